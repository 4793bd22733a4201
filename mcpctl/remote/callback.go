package remote

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"orchestrator/thread/front"
	"orchestrator/thread/plaintext"
)

// callback is the page on this machine that a browser is sent to after the sign-in. It takes one answer, and only one
// with the state that was sent.
type callback struct {
	on     net.Listener
	server *http.Server
	got    chan *auth.AuthorizationResult
	failed chan error

	mu    sync.Mutex
	state string
}

// mostPages bounds the connections of browsers.
const mostPages = 64

// newCallback listens on the port, or on any free one.
func newCallback(port int) (*callback, error) {
	on, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	on = front.New(on, mostPages)
	c := &callback{on: on, got: make(chan *auth.AuthorizationResult, 1), failed: make(chan error, 1)}
	c.server = &http.Server{
		Handler: http.HandlerFunc(c.serve), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: maxHeader,
	}
	front.Guard(c.server)
	go func() { _ = c.server.Serve(on) }()
	return c, nil
}

func (c *callback) address() string { return "http://" + c.on.Addr().String() + "/callback" }

func (c *callback) close() {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if c.server.Shutdown(ctx) != nil { // the last page is sent
		_ = c.server.Close()
	}
}

func (c *callback) expect(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

func (c *callback) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c.mu.Lock()
	state := c.state
	c.mu.Unlock()
	known := state != "" && subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) == 1
	if r.Method != http.MethodGet || r.URL.Path != "/callback" || r.Host != c.on.Addr().String() || !known {
		http.Error(w, "This is not the answer that orchestrator is waiting for.", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if q.Get("error") != "" || q.Get("code") == "" {
		_, _ = fmt.Fprintln(w, "You are not signed in. You can close this page.")
		why := "the server gives no code"
		if said := plaintext.OneLine(plaintext.Line(q.Get("error")), 100); said != "" {
			why = "the server says: " + said
		}
		select {
		case c.failed <- errors.New(why):
		default:
		}
		return
	}
	_, _ = fmt.Fprintln(w, "You can close this page.")
	select {
	case c.got <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
	default: // a second answer is not taken
	}
}

func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case got := <-c.got:
		return got, nil
	case err := <-c.failed:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
