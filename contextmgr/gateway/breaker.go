package gateway

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
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
