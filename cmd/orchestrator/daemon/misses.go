package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/grant"
)

const (
	// missesFree is how many tokens an agent may look up in vain before each further one is slow, and missesMost after how
	// many it is refused, until missesFor after the first.
	missesFree = 8
	missesMost = 40
	missesFor  = time.Hour
	// missPause is the first pause; each is twice as long as the one before, up to missLongest.
	missPause   = 100 * time.Millisecond
	missLongest = 2 * time.Second
)

// misses bounds how many tokens agents can guess. A token has few digits, so that people can type it, and whoever has one
// may read what it names: each thread's agent is counted alone, and the person is not.
type misses struct {
	now   func() time.Time
	pause func(context.Context, time.Duration) error

	mu sync.Mutex
	by map[thread.ID]missed // agents that are of no thread here are one
}

// missed are the look-ups of an agent since a moment that found nothing, with those that are not answered yet.
type missed struct {
	since time.Time
	n     int
}

func newMisses() *misses {
	return &misses{by: map[thread.ID]missed{}, now: time.Now, pause: func(ctx context.Context, d time.Duration) error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}
}

// look looks up what a caller does not see. find reports whether there is something. Of what is refused, and how late, a
// caller learns nothing about what there is.
func (m *misses) look(ctx context.Context, c grant.Caller, find func() error) error {
	if !c.Agent {
		return find()
	}
	n, until, ok := m.count(c.Thread, 1)
	if !ok {
		return thread.Hint(fmt.Errorf("this agent has looked up %d tokens that do not exist, and may read only what its own "+
			"thread has staged until %s: %w", missesMost, until.Local().Format(time.TimeOnly), thread.ErrLimit),
			"a token comes with a prompt or a handoff; `orchestrator stage list` lists the thread's own")
	}
	if over := n - missesFree - 1; over >= 0 {
		if err := m.pause(ctx, min(missPause<<min(over, 10), missLongest)); err != nil {
			return err
		}
	}
	err := find()
	if err == nil {
		m.count(c.Thread, -1)
	}
	return err
}

// count adds to what an agent has looked up in vain, unless that is too much already.
func (m *misses) count(id thread.ID, more int) (n int, until time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for other, is := range m.by {
		if now.Sub(is.since) >= missesFor {
			delete(m.by, other)
		}
	}
	is, counted := m.by[id]
	if !counted {
		is.since = now
	}
	if more > 0 && is.n >= missesMost {
		return is.n, is.since.Add(missesFor), false
	}
	if is.n = max(is.n+more, 0); is.n == 0 {
		delete(m.by, id)
	} else {
		m.by[id] = is
	}
	return is.n, is.since.Add(missesFor), true
}
