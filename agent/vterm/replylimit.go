package vterm

import "time"

const (
	replyBurst = 300 // answers at once: a program may ask for all 256 colours
	replyRate  = 100 // answers a second after that
)

// replyLimit keeps a flood of queries from turning into a flood of input.
type replyLimit struct {
	tokens float64
	last   time.Time
}

func (l *replyLimit) take(now time.Time) bool {
	if !l.last.IsZero() {
		l.tokens = min(replyBurst, l.tokens+now.Sub(l.last).Seconds()*replyRate)
	}
	l.last = now
	if l.tokens < 1 {
		return false
	}
	l.tokens--
	return true
}
