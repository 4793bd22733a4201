package session

import (
	"context"
	"time"
)

// SetTakeLimit shortens the wait for an agent that does not react. Before the first Start only.
func (s *Sessions) SetTakeLimit(d time.Duration) { s.pace.takeLimit = d }

// SetSettled lengthens the wait before the return, for machines that are slow to show a dialog. Before the
// first Start only.
func (s *Sessions) SetSettled(d time.Duration) { s.pace.settled = d }

// SetPressAgain shortens the wait before a return is pressed once more. Before the first Start only.
func (s *Sessions) SetPressAgain(d time.Duration) { s.pace.pressAgain = d }

// SetPlainLimit shortens the wait for an agent that takes no pastes. Before the first Start only.
func (s *Sessions) SetPlainLimit(d time.Duration) { s.pace.plainLimit = d }

// Holding reports whether a prompt is being typed.
func (s *Session) Holding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holding
}

// Examined reports whether the rules have looked at the screen as it is.
func (s *Session) Examined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.screen.dirty && !s.screen.examined.IsZero()
}

// Looks returns how often a prompt that waits for nothing in particular looks at its agent within a time.
func (s *Session) Looks(ctx context.Context, d time.Duration) (n int) {
	_ = s.await(ctx, d, func(time.Time) (bool, error) { n++; return false, nil })
	return n
}

// HoldOutput keeps what the agents print from being handled until release is called. For sessions that nobody watches.
func (s *Session) HoldOutput() (release func()) {
	s.turns <- struct{}{}
	return s.endTurn
}

// Unread reports whether the agent has printed what was not handled.
func (s *Session) Unread() bool { return s.proc.Unread() }
