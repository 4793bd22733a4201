package front

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk is a server that answers every request with its method, target and body, and counts them.
type desk struct {
	*testing.T
	listener *Listener

	mu   sync.Mutex
	seen []string
	hold chan struct{} // a request for /hold is answered when it is closed
	held chan struct{} // and says here that it came
}

func open(t *testing.T, most int) *desk {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, listener: New(inner, most), hold: make(chan struct{}), held: make(chan struct{}, 100)}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(d.serve)}
	Guard(s)
	done := make(chan error, 1)
	go func() { done <- s.Serve(d.listener) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) serve(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	d.seen = append(d.seen, r.Method+" "+r.URL.Path+" "+string(b))
	d.mu.Unlock()
	if r.URL.Path == "/hold" {
		d.held <- struct{}{}
		<-d.hold
	}
	_, _ = io.WriteString(w, "ok")
}

func (d *desk) dial() net.Conn {
	d.Helper()
	c, err := net.Dial("tcp", d.listener.Addr().String())
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		d.Fatal(err)
	}
	return c
}

// say sends a text, in pieces of so many bytes, and returns the statuses of the answers until the connection ends.
func (d *desk) say(text string, piece int) (statuses []int) {
	d.Helper()
	c := d.dial()
	go func() {
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			if _, err := io.WriteString(c, rest[:n]); err != nil {
				return // it has been cut off
			}
			rest = rest[n:]
		}
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	in := bufio.NewReader(c)
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				d.Error("the connection is left open")
			}
			return statuses
		}
		_, _ = io.Copy(io.Discard, res.Body)
		statuses = append(statuses, res.StatusCode)
	}
}

// TestOneReader: a request that could end at two places never reaches a handler, nor does what follows it, however its
// bytes come; what is plain does, one request after another.
func TestOneReader(t *testing.T) {
	const (
		post  = "POST /a HTTP/1.1\r\nHost: x\r\n"
		admin = "GET /admin HTTP/1.1\r\nHost: x\r\n\r\n"
		plain = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"
	)
	for name, text := range map[string]string{
		"both lengths":             post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + admin,
		"both, the other way":      post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + admin,
		"two lengths":              post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello" + admin,
		"the same length twice":    post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello" + admin,
		"a list of lengths":        post + "Content-Length: 5, 5\r\n\r\nhello" + admin,
		"a signed length":          post + "Content-Length: +5\r\n\r\nhello" + admin,
		"a negative length":        post + "Content-Length: -5\r\n\r\nhello" + admin,
		"no digits":                post + "Content-Length:\r\n\r\nhello" + admin,
		"a huge length":            post + "Content-Length: 99999999999999999999\r\n\r\nhello" + admin,
		"a hexadecimal length":     post + "Content-Length: 0x5\r\n\r\nhello" + admin,
		"chunked twice":            post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + admin,
		"chunked, identity":        post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + admin,
		"identity":                 post + "Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello" + admin,
		"xchunked":                 post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + admin,
		"chunked after a tab":      post + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + admin,
		"a folded line":            post + "X-A: b\r\n Content-Length: 5\r\n\r\nhello" + admin,
		"a folded encoding":        post + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" + admin,
		"a space before the colon": post + "Content-Length : 5\r\n\r\nhello" + admin,
		"bare line feeds":          "POST /a HTTP/1.1\nHost: x\nContent-Length: 5\n\nhello" + admin,
		"one bare line feed":       post + "X: y\nContent-Length: 5\r\n\r\nhello" + admin,
		"a bare carriage return":   post + "X: y\rContent-Length: 5\r\n\r\nhello" + admin,
		"a zero byte":              post + "Content-Length: 5\x00\r\n\r\nhello" + admin,
		"chunked before 1.1":       "POST /a HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + admin,
		"chunked in a long line": "POST /" + strings.Repeat("a", 5000) + " HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			admin,
		"a chunk without an end":   post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloxx0\r\n\r\n" + admin,
		"a chunk that is longer":   post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n" + admin,
		"a chunk with a line feed": post + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n" + admin,
		"a chunk of no size":       post + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n" + admin,
		"a folded trailer":         post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n b\r\n\r\n" + admin,
		"two hosts":                "GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + admin,
		"an upgrade":               "GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + admin,
	} {
		for _, piece := range []int{1 << 20, 1} {
			t.Run(fmt.Sprintf("%s, %d", name, piece), func(t *testing.T) {
				t.Parallel()
				d := open(t, 10)
				statuses := d.say(text, piece)
				if name == "an upgrade" {
					if len(statuses) != 1 || len(d.seen) != 1 || d.seen[0] != "GET /up " {
						t.Errorf("answered %v to %q", statuses, d.seen)
					}
					return
				}
				if len(statuses) != 1 || statuses[0] != http.StatusBadRequest || len(d.seen) > 0 {
					t.Errorf("answered %v to %q", statuses, d.seen)
				}
				d = open(t, 10) // the same behind one that is right
				if statuses := d.say(plain+text, piece); len(d.seen) != 1 || len(statuses) != 2 || statuses[0] != http.StatusOK ||
					statuses[1] != http.StatusBadRequest {
					t.Errorf("behind another: answered %v to %q", statuses, d.seen)
				}
			})
		}
	}
	all := plain + post + "Content-Length: 5\r\n\r\nhello" +
		post + "Content-Length: 0\r\n\r\n" +
		post + "transfer-encoding: Chunked\r\n\r\n5;x=y\r\nhello\r\n00a\r\n0123\r\n\r\n89\r\n0\r\nX-Sum: 1\r\n\r\n" +
		"PUT /c?x=1 HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("y", 10_000) + "\r\nContent-Length: 3\r\n\r\n\r\n\r" +
		"GET /last HTTP/1.0\r\nHost: x\r\n\r\n"
	want := []string{"GET /b ", "POST /a hello", "POST /a ", "POST /a hello0123\r\n\r\n89", "PUT /c \r\n\r", "GET /last "}
	for _, piece := range []int{1 << 20, 7, 1} {
		d := open(t, 10)
		if statuses := d.say(all, piece); len(statuses) != len(want) || fmt.Sprint(d.seen) != fmt.Sprint(want) {
			t.Errorf("%d bytes at a time: answered %v to %q", piece, statuses, d.seen)
		}
	}
}

// TestMany: whoever opens connections and leaves them, with or without a part of a request, keeps nobody else out; what
// is being answered goes on, and there are never more than the limit.
func TestMany(t *testing.T) {
	const most = 40
	for name, part := range map[string]string{
		"nothing": "", "half a line": "GET /", "half a head": "GET / HTTP/1.1\r\nHost: x\r\n",
		"half a body":                 "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
		"half a chunk":                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
		"a request that was answered": "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, most)
			long := d.dial()
			if _, err := io.WriteString(long, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			<-d.held
			for n := range 5 * most {
				c := d.dial()
				if _, err := io.WriteString(c, part); err != nil && n < most-2 {
					t.Fatal(err)
				}
				if n%most == most-1 {
					if s := d.say("GET /other HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 1<<10); len(s) != 1 || s[0] != http.StatusOK {
						t.Fatalf("another after %d: %v", n+1, s)
					}
					if n := d.listener.Count(); n > most {
						t.Errorf("there are %d connections", n)
					}
				}
			}
			close(d.hold)
			res, err := http.ReadResponse(bufio.NewReader(long), nil)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("what was being answered: %v, %v", res, err)
			}
		})
	}
}

// TestAllAreAnswered: if every connection is being answered, another one is closed at once, and none of them is cut.
func TestAllAreAnswered(t *testing.T) {
	const most = 5
	d := open(t, most)
	var all []net.Conn
	for range most {
		c := d.dial()
		if _, err := io.WriteString(c, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
		<-d.held
	}
	if s := d.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1<<10); len(s) != 0 {
		t.Errorf("one too many was answered %v", s)
	}
	close(d.hold)
	for _, c := range all {
		if res, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%v, %v", res, err)
		}
	}
}

// TestHeadsAreBounded: heads that do not end take no more than their share together.
func TestHeadsAreBounded(t *testing.T) {
	d := open(t, 1000)
	line := "X-A: " + strings.Repeat("y", 100<<10) + "\r\n"
	for range mostHeads/len(line)/4 + 100 {
		c := d.dial()
		for range 4 {
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n"+line); err != nil {
				break
			}
		}
	}
	d.listener.mu.Lock()
	heads := d.listener.heads
	d.listener.mu.Unlock()
	if heads > mostHeads+1<<20 {
		t.Errorf("%d bytes are held", heads)
	}
	if s := d.say("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 1<<10); len(s) != 1 || s[0] != http.StatusOK {
		t.Errorf("another: %v", s)
	}
}
