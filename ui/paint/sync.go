package paint

import (
	"time"

	"orchestrator/agent/vterm"
)

// syncLimit is the maximum wait for a program to end its synchronized frame.
const syncLimit = 200 * time.Millisecond

// held reports whether the program is in the middle of a synchronized frame. It is called again at the end of that
// frame, or after a while without one.
func (s *Spot) held(t *vterm.Terminal) bool {
	if !t.Modes().Sync {
		s.syncSince = time.Time{}
		if s.syncTimer != nil {
			s.syncTimer.Stop()
			s.syncTimer = nil
		}
		return false
	}
	now := s.w.now()
	if s.syncSince.IsZero() {
		s.syncSince = now
	}
	wait := syncLimit - now.Sub(s.syncSince)
	if wait <= 0 {
		return false
	}
	if s.syncTimer == nil {
		s.syncTimer = s.w.later(wait, func() {
			s.w.mu.Lock()
			defer s.w.mu.Unlock()
			s.syncTimer = nil
			s.wake()
		})
	}
	return true
}
