package gateway

import (
	"math"
	"sync"
	"time"
)

// bucket limits the number of requests per minute.
type bucket struct {
	mu   sync.Mutex // a leaf
	left float64
	at   time.Time // the time at which left was correct
}

// take takes one request from a bucket that is refilled with n per minute and holds as many. If none is left, it
// returns how long it takes until there is one; up to most, that one is taken ahead.
func (b *bucket) take(n int, now time.Time, most time.Duration) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() {
		b.left = float64(n)
	} else if passed := now.Sub(b.at); passed > 0 { // clocks may be set back
		b.left = min(float64(n), b.left+passed.Minutes()*float64(n))
	}
	b.at = now
	if b.left < 1 {
		if wait = time.Duration(math.Ceil((1 - b.left) / float64(n) * float64(time.Minute))); wait > most {
			return wait
		}
	}
	b.left--
	return wait
}

// back gives back one that was taken ahead.
func (b *bucket) back() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left++
}
