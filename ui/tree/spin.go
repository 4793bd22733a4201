package tree

import (
	"time"

	"charm.land/bubbles/v2/spinner"

	"orchestrator/thread"
)

// spin is how the mark of what works moves: the one of the legend, turning at the rate of the clock on the screen.
func spin() spinner.Spinner {
	return spinner.Spinner{Frames: []string{LookOfState(thread.StateWorking).Glyph, "◓", "◑", "◒"}, FPS: time.Second}
}

// Pace is how long a frame of the marks that move is shown.
func Pace() time.Duration { return spin().FPS }

// Beat moves the marks of the threads that work on by a frame.
func (t *Tree) Beat() { t.beat++ }

// Moves reports whether a mark on show moves.
func (t *Tree) Moves() bool {
	t.sort()
	for _, r := range t.rows {
		if t.works(t.threads[r.ID]) {
			return true
		}
	}
	return false
}

// works reports whether a thread's mark moves: one that is stuck is at rest.
func (t *Tree) works(s *thread.Status) bool {
	return !t.Lost && s.State.State == thread.StateWorking && s.Outcome.Kind == thread.OutcomeNone && !s.State.Stuck
}

// glyph returns a thread's mark as it is now.
func (t *Tree) glyph(s *thread.Status, look Look) string {
	if !t.works(s) {
		return look.Glyph
	}
	frames := spin().Frames
	return frames[t.beat%len(frames)]
}
