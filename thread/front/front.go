// Package front stands in front of the HTTP servers of this program: it bounds their connections, and lets through only
// requests that nobody can read in two ways.
//
// It guarantees:
//
//   - Where a request ends is said once and plainly: by one Content-Length, or by a Transfer-Encoding that is "chunked",
//     never by both. Lines end in CRLF, and none is folded. What is not so never reaches a handler: the server answers
//     400 and closes the connection, so that nothing behind it is taken for a request.
//   - There are no more connections than a limit. One that is too many takes the place of the oldest whose request is not
//     whole, then of the one that has been idle for longest; one that is being answered is never cut. So others are served
//     however many connections somebody opens and leaves.
//   - What is kept of the heads of requests that are not whole is bounded likewise.
package front

import (
	"container/list"
	"fmt"
	"net"
	"net/http"
	"sync"
)

const (
	// Most is a limit for a server's connections: hundreds of agents with several each.
	Most = 2048
	// mostHeads is how many bytes the heads of requests have that are not whole.
	mostHeads = 32 << 20
)

// Listener gives out connections within the limit.
type Listener struct {
	net.Listener
	most int

	mu    sync.Mutex
	conns map[*Conn]struct{}
	heads int       // bytes
	owing list.List // of *Conn whose request is not whole, by when it began; oldest first
	idle  list.List // of *Conn without a request, by when they became so
}

// New returns a listener that has at most so many connections.
func New(l net.Listener, most int) *Listener {
	return &Listener{Listener: l, most: most, conns: map[*Conn]struct{}{}}
}

// Accept implements net.Listener. A connection for which there is no room at all is closed at once.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(inner); c != nil {
			return c, nil
		}
		_ = inner.Close() // it has sent nothing that was read
	}
}

// admit makes room for a connection; nil if there is none.
func (l *Listener) admit(inner net.Conn) *Conn {
	l.mu.Lock()
	c := &Conn{Conn: inner, of: l}
	var out *Conn
	if len(l.conns) >= l.most {
		if out = l.leaves(); out == nil {
			l.mu.Unlock()
			return nil
		}
		l.forget(out)
	}
	l.conns[c] = struct{}{}
	c.queue(&l.idle)
	l.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close()
	}
	return c
}

// leaves returns the connection whose place another may take. The caller holds mu.
func (l *Listener) leaves() *Conn {
	for _, q := range []*list.List{&l.owing, &l.idle} {
		if e := q.Front(); e != nil {
			return e.Value.(*Conn) // only those are in it
		}
	}
	return nil
}

// forget takes a connection out of the lists. The caller holds mu.
func (l *Listener) forget(c *Conn) {
	if _, there := l.conns[c]; there {
		c.queue(nil)
		c.holds(0)
		delete(l.conns, c)
	}
}

// Count returns how many connections there are.
func (l *Listener) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Conn is a connection whose requests are looked at as they come.
type Conn struct {
	net.Conn
	of     *Listener
	reader reader
	over   error // what every further Read returns

	in   *list.List // guarded by of.mu, as are those below
	at   *list.Element
	head int // bytes of the head of the request that is not whole
}

// queue puts a connection at the end of a list, or into none. The caller holds mu.
func (c *Conn) queue(in *list.List) {
	if c.in != nil {
		c.in.Remove(c.at)
	}
	if c.in, c.at = in, nil; in != nil {
		c.at = in.PushBack(c)
	}
}

// Read implements net.Conn. Only one goroutine may read at a time.
func (c *Conn) Read(b []byte) (int, error) {
	if c.over != nil {
		return 0, c.over
	}
	n, err := c.Conn.Read(b)
	good, bad := c.reader.feed(b[:n])
	if bad != nil {
		c.over = bad
		if good == 0 {
			return 0, bad
		}
		return good, nil
	}
	if n > 0 {
		c.moved()
	}
	return n, err
}

// moved notes how far a connection's request has come, and cuts another if all of them together are too much.
func (c *Conn) moved() {
	l := c.of
	l.mu.Lock()
	if _, there := l.conns[c]; !there {
		l.mu.Unlock()
		return
	}
	c.holds(c.reader.head)
	switch owes := c.reader.owes(); {
	case !owes:
		c.queue(nil) // it is answered now; answered is told when that is over
	case c.in != &l.owing:
		c.queue(&l.owing)
	}
	var out *Conn
	if e := l.owing.Front(); l.heads > mostHeads && e != nil {
		out = e.Value.(*Conn) // only those are in it
		l.forget(out)
	}
	l.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // it has not sent all
	}
}

// holds notes how large the head of a connection's request is. The caller holds mu.
func (c *Conn) holds(head int) { c.of.heads, c.head = c.of.heads+head-c.head, head }

// NetConn returns the connection that is looked at.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	c.of.mu.Unlock()
	if err := c.Conn.Close(); err != nil {
		return fmt.Errorf("close a connection: %w", err)
	}
	return nil
}

// Guard has a server tell its connections when they are idle, and close one whose request asked for another protocol
// and did not get it: what follows is not HTTP then.
func Guard(s *http.Server) {
	s.ConnState = func(inner net.Conn, state http.ConnState) {
		if c := of(inner); c != nil && state == http.StateIdle {
			c.answered()
		}
	}
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Upgrade"]) > 0 || r.Method == http.MethodConnect {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// of finds the connection of ours in one.
func of(c net.Conn) *Conn {
	for {
		switch is := c.(type) {
		case *Conn:
			return is
		case interface{ NetConn() net.Conn }:
			c = is.NetConn()
		default:
			return nil
		}
	}
}

// answered notes that a connection waits for its next request.
func (c *Conn) answered() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if _, there := c.of.conns[c]; there && c.in == nil { // nothing of the next request has come
		c.queue(&c.of.idle)
	}
}
