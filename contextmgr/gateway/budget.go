package gateway

import (
	"context"
	"slices"
	"sync"
)

// budget bounds the bytes that are held at once of bodies and answers, from a request's arrival until what came of
// it is stored. A thread may have a share of them, so that one whose answers are stored slowly holds up nobody else.
// What is larger than the share, or than all, passes when nothing else of its thread, or nothing else at all, is
// held. Those that wait are served in the order in which they came; a thread that has its share is passed over.
type budget struct {
	max, share, kept int64

	mu      sync.Mutex // a leaf; guards all below, accounts and holds
	held    int64
	waiting []*waiter
}

// account is what one thread holds, and what of it is answered.
type account struct{ held, kept int64 }

// hold is what is held for one request. The nil hold is of nothing.
type hold struct {
	b   *budget
	acc *account
	n   int64
	// kept is set for what was told to the observer and is not stored yet.
	kept bool
}

// waiter is a hold that waits for more.
type waiter struct {
	h       *hold
	n       int64
	grows   bool
	granted chan struct{} // closed when it has them
}

func newBudget(limit int64) *budget { return &budget{max: limit, share: limit / 8, kept: limit / 32} }

func (b *budget) hold(acc *account) *hold { return &hold{b: b, acc: acc} }

// take waits until n more bytes may be held, or for the end of ctx. Who holds something already goes first and
// past its thread's share, or it would wait for those that wait for it; at most one at a time may be so.
func (h *hold) take(ctx context.Context, n int64) error {
	c := &waiter{h: h, n: n, granted: make(chan struct{})}
	h.b.mu.Lock()
	if c.grows = h.n > 0; c.grows {
		h.b.waiting = slices.Insert(h.b.waiting, 0, c)
	} else {
		h.b.waiting = append(h.b.waiting, c)
	}
	h.b.serve()
	h.b.mu.Unlock()
	select {
	case <-c.granted:
		return nil
	case <-ctx.Done():
	}
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	i := slices.Index(h.b.waiting, c)
	if i < 0 {
		return nil // granted at the same time
	}
	h.b.waiting = slices.Delete(h.b.waiting, i, i+1)
	h.b.serve() // those behind it
	return context.Cause(ctx)
}

// force holds n more bytes at once: an answer never waits. It reports whether that is still bearable: twice the
// bound is not exceeded.
func (h *hold) force(n int64) bool {
	if h == nil {
		return true
	}
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	h.add(n)
	return h.b.held <= 2*h.b.max
}

// bytes returns how many are held.
func (h *hold) bytes() int64 {
	if h == nil {
		return 0
	}
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	return h.n
}

// release gives everything back. It may be called more than once.
func (h *hold) release() {
	if h == nil {
		return
	}
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	h.add(-h.n)
	h.b.serve()
}

// total returns what all hold.
func (b *budget) total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// of returns what a thread holds.
func (b *budget) of(acc *account) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return acc.held
}

// add counts bytes. The caller holds mu.
func (h *hold) add(n int64) {
	h.n += n
	h.acc.held += n
	if h.kept {
		h.acc.kept += n
	}
	h.b.held += n
}

// serve grants what may be held now. The caller holds mu.
func (b *budget) serve() {
	full := false
	var passed []*account // whose first waits for its share: what comes after it must not overtake
	rest := b.waiting[:0]
	for _, c := range b.waiting {
		own, others := c.h.acc.held, b.held-c.h.n
		switch {
		case !c.grows && (slices.Contains(passed, c.h.acc) || own > 0 && own+c.n > b.share || c.h.acc.kept > b.kept):
			passed = append(passed, c.h.acc)
			rest = append(rest, c)
		case full, others > 0 && b.held+c.n > b.max:
			full = true
			rest = append(rest, c)
		default:
			c.h.add(c.n)
			close(c.granted)
		}
	}
	clear(b.waiting[len(rest):])
	b.waiting = rest
}
