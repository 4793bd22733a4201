// Package fair lets a few do something at a time, in the order in which they came.
//
// Where all begin at once on a machine that is busy, each gets a little further, none gets done, and waits that are long
// enough for anyone are over before they were used. Where a few do it at a time, each is done about as fast as if it were
// alone, and nobody is overtaken. Whoever takes longer than a share goes on, and does not hold up the others: from then
// on its place is the next one's.
package fair

import (
	"sync"
	"time"
)

// Line is a line with some places at its head. Its methods may be called from many goroutines.
type Line struct {
	share time.Duration

	mu      sync.Mutex // guards all below
	free    int
	waiting []chan struct{} // oldest first; closed when its place is free
}

// NewLine makes one with so many places, each of which is held for a share at most.
func NewLine(places int, share time.Duration) *Line { return &Line{share: share, free: places} }

// TryEnter takes a place if there is one and nobody waits for it. The caller leaves it, once or more often.
func (l *Line) TryEnter() (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free == 0 {
		return nil, false
	}
	l.free--
	return l.hold(), true
}

// Enter waits for a place, behind those that wait already; false when done is closed before.
func (l *Line) Enter(done <-chan struct{}) (leave func(), ok bool) {
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return l.hold(), true
	}
	mine := make(chan struct{})
	l.waiting = append(l.waiting, mine)
	l.mu.Unlock()
	select {
	case <-mine:
		return l.hold(), true
	case <-done:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.waiting {
		if w == mine {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return nil, false
		}
	}
	l.pass() // it was given meanwhile
	return nil, false
}

// hold begins a share of a place that is taken.
func (l *Line) hold() (leave func()) {
	var once sync.Once
	left := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pass()
	}
	timer := time.AfterFunc(l.share, func() { once.Do(left) })
	return func() { timer.Stop(); once.Do(left) }
}

// pass gives a place to whoever waits longest. mu is held.
func (l *Line) pass() {
	if len(l.waiting) == 0 {
		l.free++
		return
	}
	close(l.waiting[0])
	l.waiting = l.waiting[1:]
}
