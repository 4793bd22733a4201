// Package semaphore limits how many do something at a time, in the order in which they asked.
//
// On a busy machine, work that all starts at once makes little progress and runs into its timeouts. With a limit each
// piece takes about as long as it would alone, and nobody is overtaken. A slot is held for a limited time: whoever
// takes longer continues, but its slot goes to the next in line.
package semaphore

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Semaphore is a first-in, first-out semaphore whose slots expire. It is safe for concurrent use.
type Semaphore struct {
	lease time.Duration
	slots *semaphore.Weighted
}

// New returns a semaphore with a number of slots, each held for lease at most.
func New(slots int64, lease time.Duration) *Semaphore {
	return &Semaphore{lease: lease, slots: semaphore.NewWeighted(slots)}
}

// TryAcquire takes a slot if one is free. Calling release more than once is harmless.
func (s *Semaphore) TryAcquire() (release func(), ok bool) {
	if !s.slots.TryAcquire(1) {
		return nil, false
	}
	return s.hold(), true
}

// Acquire waits for a slot; ok is false if ctx ends first.
func (s *Semaphore) Acquire(ctx context.Context) (release func(), ok bool) {
	if s.slots.Acquire(ctx, 1) != nil {
		return nil, false
	}
	return s.hold(), true
}

// hold starts the lease of a slot that was taken.
func (s *Semaphore) hold() (release func()) {
	free := sync.OnceFunc(func() { s.slots.Release(1) })
	timer := time.AfterFunc(s.lease, free)
	return func() { timer.Stop(); free() }
}
