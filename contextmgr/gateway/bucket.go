package gateway

import (
	"math"
	"sync"
	"time"
)

// bucket lets a number of requests a minute through.
type bucket struct {
	mu   sync.Mutex // a leaf
	left float64
	at   time.Time // when left was right
}

// take takes one request out of a bucket that gains n a minute and holds as many. Where none is left it returns
// how long it is until there is one.
func (b *bucket) take(n int, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() {
		b.left = float64(n)
	} else if passed := now.Sub(b.at); passed > 0 { // clocks may go back
		b.left = min(float64(n), b.left+passed.Minutes()*float64(n))
	}
	b.at = now
	if b.left < 1 {
		return time.Duration(math.Ceil((1 - b.left) / float64(n) * float64(time.Minute)))
	}
	b.left--
	return 0
}
