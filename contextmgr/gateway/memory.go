package gateway

import (
	"context"
	"slices"
	"sync"
)

// memory limits the bytes of bodies and answers that are held in memory at once, from a request's arrival until its
// result is stored. A thread may have a share of them, so that a thread whose answers are stored slowly blocks no
// other. A request that is larger than the share, or than the limit, is admitted when nothing else of its thread, or
// nothing else at all, is held. Waiting requests are served in the order of their arrival; a thread that has used up
// its share is skipped.
type memory struct {
	max, share, kept int64

	mu      sync.Mutex // a leaf; guards all below, accounts and holds
	held    int64
	waiting []*waiter
}

// account is what one thread holds, and how much of that belongs to finished answers.
type account struct {
	held, kept int64
	unpacks    chan struct{} // contains an element while a body is unpacked; nil until one is
}

// unpacking returns what contains an element while a body of the account is unpacked.
func (a *account) unpacking(b *memory) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.unpacks == nil {
		a.unpacks = make(chan struct{}, 1)
	}
	return a.unpacks
}

// hold is what is held for one request. A nil hold holds nothing.
type hold struct {
	b   *memory
	acc *account
	n   int64
	// kept is set for what was passed to the observer and is not stored yet.
	kept bool
	// large is what is held in addition of the memory for large unpacked bodies, and released with it; nil for nothing.
	large *hold
}

// waiter is a hold that waits for more.
type waiter struct {
	h       *hold
	n       int64
	grows   bool
	granted chan struct{} // closed when it has them
}

func newMemory(limit int64) *memory { return &memory{max: limit, share: limit / 8, kept: limit / 32} }

func (b *memory) hold(acc *account) *hold { return &hold{b: b, acc: acc} }

// take waits until n more bytes may be held, or until ctx ends. A request that holds something already goes first and
// may exceed its thread's share, because otherwise it would wait for requests that wait for it; only one at a time may
// do so.
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
	h.b.serve() // those queued after it
	return context.Cause(ctx)
}

// force holds n more bytes at once: an answer never waits. It reports whether no more than twice the limit is held.
func (h *hold) force(n int64) bool {
	if h == nil {
		return true
	}
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	h.add(n)
	return h.b.held <= 2*h.b.max
}

// try holds n more bytes if they may be held now, and reports that.
func (h *hold) try(n int64) bool {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	if h.b.held > h.n && h.b.held+n > h.b.max {
		return false
	}
	h.add(n)
	return true
}

// passOn takes what is held of the memory for large bodies, which whoever gets it releases.
func (h *hold) passOn() *hold {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	large := h.large
	h.large = nil
	return large
}

// bytes returns how many bytes are held.
func (h *hold) bytes() int64 {
	if h == nil {
		return 0
	}
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	return h.n
}

// release releases everything. It may be called more than once.
func (h *hold) release() {
	if h == nil {
		return
	}
	h.b.mu.Lock()
	large := h.large
	h.large = nil
	h.add(-h.n)
	h.b.serve()
	h.b.mu.Unlock()
	large.release()
}

// total returns the bytes held by all threads.
func (b *memory) total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// of returns the bytes held by a thread.
func (b *memory) of(acc *account) int64 {
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
func (b *memory) serve() {
	full := false
	var passed []*account // threads whose first waiter needs more share: their later waiters must not overtake it
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
