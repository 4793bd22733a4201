package tree

import (
	"time"

	"charm.land/bubbles/v2/spinner"

	"orchestrator/thread"
)

// spin returns the spinner of working threads: the mark of the legend, turning at the rate of the clock on the screen.
func spin() spinner.Spinner {
	return spinner.Spinner{Frames: []string{LookOfState(thread.StateWorking).Glyph, "◓", "◑", "◒"}, FPS: time.Second}
}

// FrameTime returns the duration of a spinner's frame.
func FrameTime() time.Duration { return spin().FPS }

// Tick advances the spinners by a frame.
func (t *Tree) Tick() { t.frame++ }

// Moves reports whether a visible mark is a spinner.
func (t *Tree) Moves() bool {
	t.sort()
	for _, r := range t.rows {
		if t.works(t.threads[r.ID]) {
			return true
		}
	}
	return false
}

// works reports whether a thread's mark is a spinner; that of a stuck thread is not.
func (t *Tree) works(s *thread.Status) bool {
	return !t.Lost && s.State.State == thread.StateWorking && s.Outcome.Kind == thread.OutcomeNone && !s.State.Stuck
}

// glyph returns a thread's current mark.
func (t *Tree) glyph(s *thread.Status, look Look) string {
	if !t.works(s) {
		return look.Glyph
	}
	frames := spin().Frames
	return frames[t.frame%len(frames)]
}
