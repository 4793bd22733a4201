package gateway

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync"
	"time"

	"orchestrator/contextmgr/wire"
)

// The gateway retries a request only if none of it can have been sent: there was no connection, because the name was
// not found, nothing answered, or TLS failed. All other retries are left to the agents, which know what they asked for.
const (
	// repeats is how often one request is retried, and repeatFor for how long.
	repeats   = 3
	repeatFor = 3 * time.Second
	// repeatAfter is the mean wait before the first retry; each later one waits twice as long.
	repeatAfter = 250 * time.Millisecond
)

// upstreams sends requests to the providers.
type upstreams struct {
	// mu guards breakers. It is a leaf: nothing is called while it is held.
	mu       sync.Mutex
	breakers map[string]*breaker // by the upstream's scheme and host, and the way there
}

// breakerOf returns the breaker of an upstream's host, as it is reached by a way.
func (u *upstreams) breakerOf(to *url.URL, out *way) *breaker {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := to.Scheme + "://" + to.Host + " " + out.id
	b := u.breakers[key]
	if b == nil {
		b = &breaker{}
		u.breakers[key] = b
	}
	return b
}

// unreachableError means that there was no answer at all. wait is set if that was known without trying.
type unreachableError struct {
	host, why string
	wait      time.Duration
}

// Error describes the error for people.
func (e *unreachableError) Error() string {
	s := "orchestrator cannot reach " + e.host
	if e.why != "" {
		s += ": " + e.why
	}
	if e.wait > 0 {
		s += fmt.Sprintf("; the next attempt is in %d s", seconds(e.wait))
	}
	return s
}

// reach sends a request. It is retried while it has no connection, unless the agent was told to wait or ctx ends. The
// error is an *unreachableError if the upstream is not tried at all.
func (u *upstreams) reach(ctx context.Context, rt *route, out *http.Request) (*http.Response, error) {
	way := rt.way()
	b := u.breakerOf(out.URL, way)
	ok, probe, wait := b.enter(time.Now())
	if !ok {
		return nil, &unreachableError{host: out.URL.Host, why: "it did not answer a moment ago", wait: wait}
	}
	tries := 1 + repeats
	if probe || rt.waiting(time.Now()) {
		tries = 1
	}
	end, pause := time.Now().Add(repeatFor), repeatAfter
	for try := 1; ; try++ {
		resp, connected, err := u.once(way, out)
		switch {
		case connected:
			b.reached()
			return resp, err
		case ctx.Err() != nil:
			b.left()
			return resp, err
		case err == nil: // a transport that does not report connections
			b.reached()
			return resp, nil
		}
		wait := jitter(pause)
		if try == tries || time.Now().Add(wait).After(end) || !sleep(ctx, wait) {
			if ctx.Err() != nil {
				b.left()
			} else {
				b.missed(time.Now())
			}
			return nil, err
		}
		pause *= 2
	}
}

// once sends a request and reports whether there was a connection for it.
func (u *upstreams) once(way *way, out *http.Request) (resp *http.Response, connected bool, err error) {
	var got connection
	ctx := httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { got.set() },
	})
	again := out.Clone(ctx)
	if out.GetBody != nil {
		var body io.ReadCloser
		if body, err = out.GetBody(); err != nil {
			return nil, true, err
		}
		again.Body = body
	}
	resp, err = way.transport.RoundTrip(again)
	return resp, got.is(), err
}

// connection records whether there was one; transports report it from their own goroutines.
type connection struct {
	mu  sync.Mutex
	was bool
}

func (c *connection) set() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.was = true
}

func (c *connection) is() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.was
}

// sleep waits; false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// unreached answers a request that could not be sent, with the time of the next attempt if it is known.
func unreached(w http.ResponseWriter, codec wire.Codec, cause *unreachableError) {
	status := http.StatusBadGateway
	if cause.wait > 0 {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(seconds(cause.wait)))
	}
	deny(w, codec, status, cause.Error())
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
