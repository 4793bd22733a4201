package tree

import (
	"time"

	"orchestrator/thread"
)

// Changes returns after how long something that was drawn looks different by itself: an age grows. Only rows in view
// count, and they grow together, so that many of them do not cost many frames: an age may be a quarter of its unit late,
// seconds one. It is 0 if nothing changes. What works turns without the list (layout.Canvas).
func (t *Tree) Changes(now time.Time) time.Duration {
	t.sort()
	next := time.Duration(0)
	switch {
	case len(t.rows) == 0:
		return 0
	case t.h == 0:
		return time.Second // it is not known yet which rows are in view
	case !t.fitted:
		t.fit()
	}
	for i := range t.win.Items() {
		if i >= len(t.lines) || t.lines[i].row < 0 {
			continue
		}
		next = Sooner(next, Older(now, t.cards[t.rows[t.lines[i].row].ID].place.Since))
	}
	return next
}

// BarChanges is Changes for the title bar of a thread.
func (t *Tree) BarChanges(now time.Time, s *thread.Status) time.Duration {
	return Older(now, t.cards[s.ID].place.Since)
}

// Sooner returns the shorter of two times, of which 0 stands for none.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Older returns after how long the age of something looks different, as late as others may be (Changes); 0 if it has none.
func Older(now, since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	age, unit := max(now.Sub(since), 0), time.Minute
	switch {
	case age < time.Minute:
		return time.Second
	case age >= 48*time.Hour:
		unit = 24 * time.Hour
	case age >= time.Hour:
		unit = time.Hour
	}
	at, together := now.Add(unit-age%unit), unit/4
	if rounded := at.Truncate(together); rounded.Before(at) {
		at = rounded.Add(together)
	}
	return at.Sub(now)
}

// works reports whether a thread's mark turns.
func (t *Tree) works(s *thread.Status) bool {
	if s.Runs() && !s.Run.Working() { // it is queued
		return false
	}
	return !t.Lost && t.cards[s.ID].place.Group == thread.GroupWorking && s.State.State != thread.StateStarting
}
