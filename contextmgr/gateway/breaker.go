package gateway

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// opensAt is the number of requests in a row without a connection after which the upstream is left alone for a pause.
	opensAt = 3
	// The first and the longest pause.
	firstPause = 2 * time.Second
	lastPause  = 30 * time.Second
)

// breaker keeps requests from an upstream that cannot be reached. After a pause, the next real request is let through
// as a probe: no requests are made only to test the upstream.
type breaker struct {
	mu      sync.Mutex // guards the rest; a leaf
	failed  int        // requests in a row that had no connection
	pause   time.Duration
	until   time.Time // of the pause; with the monotonic clock
	probing bool
}

// enter reports whether a request may be sent, and if not, how long to wait. probe is set for a request that tests
// whether the upstream is back: its end must be reported by exactly one of reached, missed and left.
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

// reached records that there was a connection.
func (b *breaker) reached() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.pause, b.probing = 0, 0, false
}

// missed records that a request ended without one.
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

// left records that the agent gave up a probe before its result was known.
func (b *breaker) left() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// jitter varies a wait by up to a quarter in both directions, so that clients that failed together do not retry
// together.
func jitter(d time.Duration) time.Duration {
	return d*3/4 + rand.N(d/2+1)
}
