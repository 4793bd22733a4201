package manager

import (
	"sync"
	"time"
)

// allowance is time that is used up, but not while it is held. A machine that sleeps does not use it up either.
type allowance struct {
	changed chan struct{} // has a token after it was held or goes on

	mu    sync.Mutex // guards the fields below
	left  time.Duration
	since time.Time // since when it is being used up; zero before its start and while it is held
	held  bool
	still time.Duration // how long it was held before
	runs  bool          // it was started
}

func newAllowance() *allowance { return &allowance{changed: make(chan struct{}, 1)} }

// start has it be used up from now on.
func (t *allowance) start(limit time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left, t.runs = limit, true
	if !t.held {
		t.since = time.Now()
	}
}

// hold stops it, or has it go on.
func (t *allowance) hold(held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == held {
		return
	}
	t.held = held
	switch {
	case !held:
		t.still += time.Since(t.since)
	case t.runs:
		t.left -= time.Since(t.since)
	}
	t.since = time.Now()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// waited returns how long it was held, without the present hold.
func (t *allowance) waited() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.still
}

// rest returns how much is left, and whether that is being used up now.
func (t *allowance) rest() (left time.Duration, used bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held || !t.runs {
		return t.left, false
	}
	return t.left - time.Since(t.since), true
}
