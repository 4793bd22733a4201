package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/thread"
)

// script is an upstream that reads a request and then does as it is told with the connection.
func script(t *testing.T, then func(c *net.TCPConn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if readRequest(c) == nil {
					then(c.(*net.TCPConn))
				}
			}()
		}
	}()
	return "http://" + ln.Addr().String()
}

// readRequest reads one request with a length.
func readRequest(c net.Conn) error {
	var head strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(head.String(), "\r\n\r\n") {
		if _, err := c.Read(b); err != nil {
			return err
		}
		head.Write(b)
	}
	n := 0
	for line := range strings.SplitSeq(head.String(), "\r\n") {
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if _, err := fmt.Sscan(v, &n); err != nil {
				return err
			}
		}
	}
	_, err := io.CopyN(io.Discard, c, int64(n))
	return err
}

const (
	chunkedHead   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	delimitedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
)

func chunks(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	return b.String()
}

// TestFaults is R12 in its quick form: what upstream did, what the agent got, what was observed.
func TestFaults(t *testing.T) {
	events := answerEvents("fault")
	whole, half := strings.Join(events, ""), strings.Join(events[:4], "")
	noStop := strings.Join(events[:6], "")
	say := func(s string) func(*net.TCPConn) {
		return func(c *net.TCPConn) { _, _ = io.WriteString(c, s) }
	}
	for name, tc := range map[string]struct {
		upstream func(*net.TCPConn)
		body     string // what the agent gets
		cut      bool   // the agent sees a cut
		check    func(thread.Exchange) bool
	}{
		"whole":            {say(chunkedHead + chunks(events...) + "0\r\n\r\n"), whole, false, fine},
		"whole, one piece": {say(chunkedHead + chunks(whole) + "0\r\n\r\n"), whole, false, fine},
		"whole, delimited": {say(delimitedHead + whole), whole, false, fine},
		"whole, length": {say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(whole), whole)), whole, false, fine},
		"cut with FIN":       {say(chunkedHead + chunks(half)), half, true, interrupted},
		"cut in a chunk":     {say(chunkedHead + "ffff\r\n" + half), half, true, interrupted},
		"cut after the stop": {say(chunkedHead + chunks(whole)), whole, true, interrupted},
		"cut, delimited":     {say(delimitedHead + half), half, true, interrupted},
		"cut, length": {say("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999\r\n\r\n" +
			half), half, true, interrupted},
		"cut, nothing came":  {say(chunkedHead), "", true, interrupted},
		"bad chunk":          {say(chunkedHead + chunks(half) + "zz\r\n"), half, true, interrupted},
		"no stop, clean end": {say(chunkedHead + chunks(noStop) + "0\r\n\r\n"), noStop, false, interrupted},
		"only pings": {say(chunkedHead + chunks(events[2], events[2]) + "0\r\n\r\n"), events[2] + events[2], false,
			interrupted},
		"two stops": {say(chunkedHead + chunks(whole, events[6]) + "0\r\n\r\n"), whole + events[6], false, fine},
		"garbage": {say(chunkedHead + chunks("\x00\xff\u2028{}\n\n", whole) + "0\r\n\r\n"),
			"\x00\xff\u2028{}\n\n" + whole, false, fine},
		"one byte at a time":  {say(chunkedHead + chunks(strings.Split(whole, "")...) + "0\r\n\r\n"), whole, false, fine},
		"no answer":           {func(*net.TCPConn) {}, "", false, unanswered},
		"no HTTP":             {say("SSH-2.0-OpenSSH\r\n"), "", false, unanswered},
		"reset before answer": {func(c *net.TCPConn) { _ = c.SetLinger(0) }, "", false, unanswered},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, script(t, tc.upstream), nil)
			resp, body, err := post(t, w.base+"/v1/messages", request("x"))
			e := w.obs.wait(t, 1)[0]
			if !tc.check(e) {
				t.Errorf("observed %+v", e)
			}
			if resp == nil {
				t.Fatalf("no answer: %v", err)
			}
			if e.Status == 0 {
				if resp.StatusCode != 502 || !strings.Contains(body, `"api_error"`) || err != nil {
					t.Errorf("got %d %q, %v", resp.StatusCode, body, err)
				}
				return
			}
			if body != tc.body || (err != nil) != tc.cut {
				t.Errorf("got %q, %v", body, err)
			}
		})
	}
}

func fine(e thread.Exchange) bool {
	return e.EndsTurn && !e.Interrupted && e.Err == "" && e.Text == "fault"
}

func interrupted(e thread.Exchange) bool {
	return e.Interrupted && !e.EndsTurn && e.Err != "" && e.Status == 200 && strings.HasPrefix("fault", e.Text)
}

func unanswered(e thread.Exchange) bool {
	return e.Interrupted && e.Err != "" && e.Status == 0 && e.Answer == nil
}

// TestCutAnywhere ends the upstream's connection somewhere in an answer; after every single byte
// with ORCHESTRATOR_GATEWAY_FULL set.
func TestCutAnywhere(t *testing.T) {
	whole := strings.Join(answerEvents("cut me"), "")
	at := make(chan int, 1)
	up := script(t, func(c *net.TCPConn) {
		_, _ = io.WriteString(c, delimitedHead+whole[:<-at])
	})
	w := open(t, up, nil)
	step := 13 // the codecs' own tests cut at every byte
	if os.Getenv("ORCHESTRATOR_GATEWAY_FULL") != "" {
		step = 1
	}
	n := 0
	for i := 0; i < len(whole); i += step {
		at <- i
		resp, body, err := post(t, w.base+"/v1/messages", request("x"))
		if resp == nil {
			t.Fatalf("cut at %d: %v", i, err)
		}
		n++
		e := w.obs.wait(t, n)[n-1]
		stopped := strings.Contains(whole[:i], `"message_stop"}`)
		if body != whole[:i] || (err == nil) != stopped || e.Interrupted == stopped {
			t.Fatalf("cut at %d: %d bytes, %v, observed %+v", i, len(body), err, e)
		}
	}
}

// TestUnreachable has an upstream that refuses, does not resolve or fails its handshake: 502 in
// every format's own shape.
func TestUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	bad := httptest.NewUnstartedServer(http.NotFoundHandler())
	bad.Config.ErrorLog = log.New(io.Discard, "", 0)
	bad.StartTLS() // a certificate that nobody knows
	defer bad.Close()
	noHost := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "canary", IsNotFound: true}}
	}}
	for name, tc := range map[string]struct {
		upstream  string
		transport http.RoundTripper
	}{
		"refused":  {"http://" + closed.Addr().String(), nil},
		"no host":  {"http://no-such-host.invalid", noHost},
		"bad cert": {bad.URL, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, tc.upstream, func(o *gateway.Options) { o.Transport = tc.transport })
			for path, shape := range map[string]string{
				"/v1/messages": `{"error":{"message":`, "/v1/responses": `"type":"server_error"`,
				"/v1/chat/completions":             `"type":"server_error"`,
				"/v1beta/models/g:generateContent": `"status":"UNAVAILABLE"`, "/other": `"type":"gateway_error"`,
			} {
				resp, body, err := post(t, w.base+path, request("x"))
				if err != nil || resp.StatusCode != 502 && resp.StatusCode != 503 || !strings.Contains(body, shape) ||
					!strings.Contains(body, "cannot reach") {
					t.Errorf("%s: %v, %v: %s", path, resp, err, body)
				}
			}
			for _, e := range w.obs.wait(t, 4) {
				if e.Status != 0 || !e.Interrupted || !strings.Contains(e.Err, "cannot reach") {
					t.Errorf("observed %+v", e)
				}
			}
		})
	}
}

// TestSilence ends an answer that stops in the middle.
func TestSilence(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(answerEvents("sil")[:4], ""))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	w := open(t, up, func(o *gateway.Options) { o.Silence = 20 * time.Millisecond })
	_, body, err := post(t, w.base+"/v1/messages", request("x"))
	if e := w.obs.wait(t, 1)[0]; err == nil || !e.Interrupted || !strings.Contains(e.Err, "stopped sending") ||
		!strings.HasPrefix(strings.Join(answerEvents("sil"), ""), body) {
		t.Errorf("%v, observed %+v", err, e)
	}
}

// TestAgentGoesAway cancels the upstream's work and says so.
func TestAgentGoesAway(t *testing.T) {
	cancelled := make(chan struct{})
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answerEvents("x")[0])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(cancelled)
	})
	w := open(t, up, nil)
	req, err := http.NewRequest(http.MethodPost, w.base+"/v1/messages", strings.NewReader(request("x")))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t)
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	c.CloseIdleConnections()
	select {
	case <-cancelled:
	case <-time.After(patience):
		t.Fatal("the upstream works on")
	}
	if e := w.obs.wait(t, 1)[0]; !e.Interrupted || !strings.Contains(e.Err, "agent") {
		t.Errorf("observed %+v", e)
	}
}

// TestAgentHangsUpAtTheEnd reads the last event and leaves before the upstream has closed: the answer
// is whole.
func TestAgentHangsUpAtTheEnd(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Join(answerEvents("whole"), ""))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	w := open(t, up, nil)
	req, err := http.NewRequest(http.MethodPost, w.base+"/v1/messages", strings.NewReader(request("x")))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t)
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, len(strings.Join(answerEvents("whole"), "")))); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	c.CloseIdleConnections()
	if e := w.obs.wait(t, 1)[0]; e.Interrupted || !e.EndsTurn || e.Err != "" || e.Text != "whole" {
		t.Errorf("observed %+v", e)
	}
}

// TestAgentThatNeverReads is the other half of R15: an agent that takes nothing of its answer.
func TestAgentThatNeverReads(t *testing.T) {
	piece := []byte(": " + strings.Repeat("x", 1<<16) + "\n")
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	w := open(t, up, func(o *gateway.Options) { o.WriteLimit = 50 * time.Millisecond })
	c, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := request("x")
	if _, err := fmt.Fprintf(c, "POST %s/v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(w.base, "http://"+w.Addr()), w.Addr(), len(body), body); err != nil {
		t.Fatal(err)
	}
	if e := w.obs.wait(t, 1)[0]; !e.Interrupted || !strings.Contains(e.Err, "agent") {
		t.Errorf("observed %+v", e)
	}
}

// TestHalfClosedIsToldWhy: an agent that shuts down its side after the request gets no answer, for it looks like one
// that is gone; it gets an error that says so, and nothing goes on upstream.
func TestHalfClosedIsToldWhy(t *testing.T) {
	ended := make(chan struct{})
	up := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		close(ended)
	})
	w := open(t, up, nil)
	c, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	body := request("x")
	if _, err := fmt.Fprintf(c, "POST %s/v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s",
		strings.TrimPrefix(w.base, "http://"+w.Addr()), w.Addr(), len(body), body); err != nil {
		t.Fatal(err)
	}
	w.obs.until(t, "the request", func() bool { return len(w.obs.log) > 0 })
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("it got nothing: %v", err)
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(got), "closed for writing") ||
		!strings.Contains(string(got), `"type":"error"`) {
		t.Errorf("it got %s %s, %v", resp.Status, got, err)
	}
	if e := w.obs.wait(t, 1)[0]; !e.Interrupted || !strings.Contains(e.Err, "agent") {
		t.Errorf("observed %+v", e)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the request goes on upstream")
	}
}

// TestHTTP2Upstream has an upstream that speaks HTTP/2.
func TestHTTP2Upstream(t *testing.T) {
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.ProtoMajor != 2 || string(b) != request("x") || r.RequestURI != "/v1/messages?a=%2F" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		streamAnswer(w, "two")
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	defer up.Close()
	w := open(t, up.URL, func(o *gateway.Options) { o.Transport = up.Client().Transport })
	resp, body, err := post(t, w.base+"/v1/messages?a=%2F", request("x"))
	if err != nil || resp.StatusCode != 200 || body != strings.Join(answerEvents("two"), "") {
		t.Fatalf("%v, %v: %s", resp, err, body)
	}
	if e := w.obs.wait(t, 1)[0]; e.Text != "two" || !e.EndsTurn {
		t.Errorf("observed %+v", e)
	}
}

// broken is a codec that panics wherever it is asked to read.
type broken struct {
	anthropic.Codec
	request, answer, write, result bool
}

func (b broken) Request(c wire.Call) (wire.Request, error) {
	if b.request {
		panic("secret-canary")
	}
	return b.Codec.Request(c)
}

func (b broken) Answer(status int, kind string) wire.Answer {
	if b.answer {
		panic("secret-canary")
	}
	return brokenAnswer{b.Codec.Answer(status, kind), b}
}

type brokenAnswer struct {
	wire.Answer
	b broken
}

func (a brokenAnswer) Write(p []byte) {
	if a.b.write {
		panic(errors.New("secret-canary"))
	}
	a.Answer.Write(p)
}

func (a brokenAnswer) Result() wire.Result {
	if a.b.result {
		panic("secret-canary")
	}
	return a.Answer.Result()
}

func TestPanicsNeverReachTheStream(t *testing.T) {
	for name, b := range map[string]broken{
		"request": {request: true}, "answer": {answer: true}, "write": {write: true}, "result": {result: true},
	} {
		for _, head := range []string{chunkedHead, delimitedHead} {
			t.Run(name, func(t *testing.T) {
				b.Codec = anthropic.New()
				whole := strings.Join(answerEvents("fine"), "")
				up := script(t, func(c *net.TCPConn) {
					if head == chunkedHead {
						_, _ = io.WriteString(c, head+chunks(whole)+"0\r\n\r\n")
						return
					}
					_, _ = io.WriteString(c, head+whole)
				})
				w := open(t, up, func(o *gateway.Options) { o.Codecs = wire.Codecs{b} })
				_, body, err := post(t, w.base+"/v1/messages", request("x"))
				if err != nil || body != whole {
					t.Errorf("got %q, %v", body, err)
				}
				w.obs.wait(t, 1)
				if strings.Contains(w.logs.String(), "canary") {
					t.Errorf("logged: %s", w.logs.String())
				}
			})
		}
	}
}

// TestSlowObserverHoldsNothingUp blocks the observer and goes on asking; what it missed comes in
// order.
func TestSlowObserverHoldsNothingUp(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, after, _ := strings.Cut(string(b), "number ")
		n, _, _ := strings.Cut(after, `"`)
		streamAnswer(w, n)
	})
	w := open(t, up, nil)
	block := make(chan struct{})
	first := true
	w.obs.onEnd = func(thread.Exchange) {
		if first {
			first = false
			<-block
			panic("the observer fails") // and goes on
		}
	}
	for i := range 20 {
		if _, _, err := post(t, w.base+"/v1/messages", request(fmt.Sprintf("number %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	close(block)
	for i, e := range w.obs.wait(t, 19) {
		if want := fmt.Sprint(i + 1); e.Text != want {
			t.Errorf("exchange %d is %q", i, e.Text)
		}
	}
}
