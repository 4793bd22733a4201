package tree

import (
	"slices"
	"time"

	"orchestrator/thread"
)

// FrameTime is how long a frame of the spinners of working threads lasts.
const FrameTime = 250 * time.Millisecond

// frames are the frames of a spinner.
const frames = "◐◓◑◒"

// Tick advances the spinners by a frame.
func (t *Tree) Tick() { t.frame++ }

// Changes returns after how long something that was drawn looks different by itself: a spinner turns, an age grows. Only
// rows in view count. It is 0 if nothing does.
func (t *Tree) Changes(now time.Time) time.Duration {
	t.sort()
	next := time.Duration(0)
	switch {
	case len(t.rows) == 0:
		return 0
	case t.h == 0:
		return FrameTime // it is not known yet which rows are in view
	case !t.fitted:
		t.fit()
	}
	for i := range t.win.Items() {
		if i >= len(t.lines) || t.lines[i].row < 0 {
			continue
		}
		id := t.rows[t.lines[i].row].ID
		if t.works(t.threads[id]) {
			return FrameTime
		}
		since := t.cards[id].place.Since
		if since.IsZero() {
			continue
		}
		age, unit := max(now.Sub(since), 0), time.Minute
		switch {
		case age < time.Minute:
			unit = time.Second
		case age >= time.Hour:
			unit = time.Hour
		}
		if left := unit - age%unit; next == 0 || left < next {
			next = left
		}
	}
	return next
}

// works reports whether a thread's mark is a spinner.
func (t *Tree) works(s *thread.Status) bool {
	return !t.Lost && t.cards[s.ID].place.Group == thread.GroupWorking && s.State.State != thread.StateStarting
}

// Turns reports whether a spinner turns in the mark of one of these threads.
func (t *Tree) Turns(list []*thread.Status) bool { return slices.ContainsFunc(list, t.works) }

// glyph returns a thread's current mark.
func (t *Tree) glyph(s *thread.Status, look Look) string {
	if !t.works(s) {
		return look.Glyph
	}
	all := []rune(frames)
	return string(all[t.frame%len(all)])
}
