// Package semaphore limits how many do something at a time, in the order in which they asked.
//
// On a busy machine, work that all starts at once makes little progress and runs into its timeouts. With a limit each
// piece takes about as long as it would alone, and nobody is overtaken. A slot is held for a limited time: whoever
// takes longer continues, but its slot goes to the next in line.
package semaphore

import (
	"sync"
	"time"
)

// Semaphore is a first-in, first-out semaphore whose slots expire. It is safe for concurrent use.
type Semaphore struct {
	lease time.Duration

	mu      sync.Mutex // guards all below
	free    int
	waiting []chan struct{} // oldest first; closed when it gets a slot
}

// New returns a semaphore with a number of slots, each held for lease at most.
func New(slots int, lease time.Duration) *Semaphore { return &Semaphore{lease: lease, free: slots} }

// TryAcquire takes a slot if one is free. Calling release more than once is harmless.
func (s *Semaphore) TryAcquire() (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return nil, false
	}
	s.free--
	return s.hold(), true
}

// Acquire waits for a slot; ok is false if done is closed first.
func (s *Semaphore) Acquire(done <-chan struct{}) (release func(), ok bool) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return s.hold(), true
	}
	mine := make(chan struct{})
	s.waiting = append(s.waiting, mine)
	s.mu.Unlock()
	select {
	case <-mine:
		return s.hold(), true
	case <-done:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.waiting {
		if w == mine {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return nil, false
		}
	}
	s.pass() // it got the slot in the meantime
	return nil, false
}

// hold starts the lease of a slot that was taken.
func (s *Semaphore) hold() (release func()) {
	var once sync.Once
	free := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pass()
	}
	timer := time.AfterFunc(s.lease, func() { once.Do(free) })
	return func() { timer.Stop(); once.Do(free) }
}

// pass gives a slot to whoever has waited longest. mu is held.
func (s *Semaphore) pass() {
	if len(s.waiting) == 0 {
		s.free++
		return
	}
	close(s.waiting[0])
	s.waiting = s.waiting[1:]
}
