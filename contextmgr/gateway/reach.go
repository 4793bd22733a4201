package gateway

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync"
	"time"

	"orchestrator/contextmgr/wire"
)

// The gateway repeats a request only where nothing of it can have left: no connection was had, because the name was
// not found, nobody answered, or TLS failed. All else is the agents' to repeat, which know what they asked for.
const (
	// repeats is how often one request is tried again, and repeatFor how long.
	repeats   = 3
	repeatFor = 3 * time.Second
	// repeatAfter is the mean wait before the first repetition; each further one is twice as long.
	repeatAfter = 250 * time.Millisecond

	// opensAt is after how many requests in a row without a connection no more are tried for a while.
	opensAt = 3
	// The first and the longest of these whiles.
	firstPause = 2 * time.Second
	lastPause  = 30 * time.Second
)

// breaker keeps requests from an upstream that cannot be reached. After a pause the next real request is let through
// to look: it asks the upstream for nothing that nobody wants.
type breaker struct {
	mu      sync.Mutex // guards what follows; a leaf
	failed  int        // requests in a row that had no connection
	pause   time.Duration
	until   time.Time // of the pause; with the monotonic clock
	probing bool
}

// enter reports whether a request may go, and if not, when to ask again. probe is set for one that looks whether the
// upstream is back: its end must be told by exactly one of reached, missed and left.
func (b *breaker) enter(now time.Time) (ok, probe bool, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failed < opensAt:
		return true, false, 0
	case now.Before(b.until):
		return false, false, b.until.Sub(now)
	case b.probing:
		return false, false, time.Second
	}
	b.probing = true
	return true, true, 0
}

// reached says that there was a connection.
func (b *breaker) reached() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.pause, b.probing = 0, 0, false
}

// missed says that a request ended without one.
func (b *breaker) missed(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed++
	b.probing = false
	if b.failed >= opensAt {
		b.pause = min(max(2*b.pause, firstPause), lastPause)
		b.until = now.Add(jitter(b.pause))
	}
}

// left says that the agent gave a probe up before it came to anything.
func (b *breaker) left() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// jitter spreads waits by a quarter to either side, so that clients that failed together do not come back together.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}

// breakerOf returns the breaker of an upstream's host.
func (g *Gateway) breakerOf(to *url.URL) *breaker {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := to.Scheme + "://" + to.Host
	b := g.breakers[key]
	if b == nil {
		b = &breaker{}
		g.breakers[key] = b
	}
	return b
}

// unreachableError says that there was no answer at all. wait is set where that was known without trying.
type unreachableError struct {
	host, why string
	wait      time.Duration
}

// Error says so for people.
func (e *unreachableError) Error() string {
	s := "orchestrator cannot reach " + e.host
	if e.why != "" {
		s += ": " + e.why
	}
	if e.wait > 0 {
		s += fmt.Sprintf("; it is tried again in %d s", seconds(e.wait))
	}
	return s
}

// reach sends a request. It is repeated while it has no connection, unless the agent was told to wait or ctx ends.
// The error is an *unreachableError where the upstream is not tried at all.
func (g *Gateway) reach(ctx context.Context, rt *route, out *http.Request) (*http.Response, error) {
	b := g.breakerOf(out.URL)
	ok, probe, wait := b.enter(time.Now())
	if !ok {
		return nil, &unreachableError{host: out.URL.Host, why: "it did not answer just before", wait: wait}
	}
	tries := 1 + repeats
	if probe || rt.waiting(time.Now()) {
		tries = 1
	}
	end, pause := time.Now().Add(repeatFor), repeatAfter
	for try := 1; ; try++ {
		resp, connected, err := g.once(out)
		switch {
		case connected:
			b.reached()
			return resp, err
		case ctx.Err() != nil:
			b.left()
			return resp, err
		case err == nil: // a transport that does not tell of connections
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
func (g *Gateway) once(out *http.Request) (resp *http.Response, connected bool, err error) {
	var got connection
	ctx := httptrace.WithClientTrace(out.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { got.set() }})
	again := out.Clone(ctx)
	if out.GetBody != nil {
		var body io.ReadCloser
		if body, err = out.GetBody(); err != nil {
			return nil, true, err
		}
		again.Body = body
	}
	resp, err = g.opts.Transport.RoundTrip(again)
	return resp, got.is(), err
}

// connection is whether there was one; transports tell of it from goroutines of their own.
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

// sleep waits; false when ctx ends before.
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

// mustWait notes that the agent was told not to ask before a time.
func (rt *route) mustWait(until time.Time) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.waits = until
}

// waiting reports whether the agent was told to wait and the time is not over: when to ask again is its to decide.
func (rt *route) waiting(now time.Time) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return now.Before(rt.waits)
}

// unreached answers a request that reached nobody, and says when to ask again where that is known.
func (g *Gateway) unreached(w http.ResponseWriter, codec wire.Codec, cause *unreachableError) {
	status := http.StatusBadGateway
	if cause.wait > 0 {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", strconv.Itoa(seconds(cause.wait)))
	}
	g.deny(w, codec, status, cause.Error())
}

func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
