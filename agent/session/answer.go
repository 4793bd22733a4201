package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/agent/dialog"
	"orchestrator/agent/vterm/input"
	"orchestrator/thread"
)

const (
	// steady is how long a dialog must have been shown unchanged, its keyboard on the answer, until return is pressed.
	steady = 200 * time.Millisecond
	// stepped is how long it must have been so before an arrow is pressed.
	stepped = 40 * time.Millisecond
	// arrowLimit is how long an agent may take to show that an arrow moved its keyboard.
	arrowLimit = 2 * time.Second
	// doubtDialog is how long a key that went to a dialog may take to do something there: a machine may be busy.
	doubtDialog = 5 * time.Second
	// reaction is how long after a dialog has gone a person's key was still meant for it.
	reaction = 300 * time.Millisecond
	// answerLimit is how long an answer may take to be chosen, and then to be taken.
	answerLimit = 10 * time.Second
)

// Answer chooses an answer: it goes there with the arrow keys, sees that the keyboard is on it, and presses return.
// What the person types in the meantime is held. It was meant for this dialog: it is passed on only if that is shown as
// it was.
func (s *Session) Answer(ctx context.Context, question string, choice int) error {
	if s.run != nil {
		return s.Reply(ctx, question, choice, "")
	}
	s.sendMu.Lock()
	a := &answer{session: s, question: question, to: choice, at: -1}
	if err := s.await(ctx, answerLimit, a.choose); err != nil {
		s.leave(a)
		s.sendMu.Unlock()
		return fmt.Errorf("answer: %w", orElse(err, errors.New("its screen has not stood still, or it has not read the key before, so nothing was chosen")))
	}
	return s.follow(ctx, a, thread.ErrNoReaction)
}

// errShown is what Decide returns when the dialog has not gone.
var errShown = errors.New("decided; the dialog is still shown")

// Decide implements thread.Session.
func (s *Session) Decide(ctx context.Context, question string, decide func() bool) (decided bool, err error) {
	if s.run != nil {
		return false, nil // nothing else can
	}
	s.sendMu.Lock()
	s.mu.Lock()
	asks := &s.screen.asks
	d, shown := s.screen.dialog()
	if s.exit == nil && shown && asks.question != nil && asks.question.ID == question && d.Sum() == asks.sum &&
		asks.touched.IsZero() {
		decided = decide()
	}
	s.holding = decided
	a := &answer{session: s, question: question, pressed: time.Now()}
	s.mu.Unlock()
	if !decided {
		s.sendMu.Unlock()
		return false, nil
	}
	return true, s.follow(ctx, a, errShown)
}

// follow waits until the agent has taken an answer, and unlocks sendMu, a moment later. If nothing shows that it has, the
// error is late.
func (s *Session) follow(ctx context.Context, a *answer, late error) error {
	err := s.await(ctx, answerLimit, a.taken)
	s.answeredOnce()
	time.AfterFunc(reaction, s.rested)
	if err != nil {
		return fmt.Errorf("answer: %w", orElse(err, late))
	}
	return nil
}

// answeredOnce makes whatever dialog is shown now another question, even if it reads the same: it was answered. Keys
// that the person typed meanwhile were for that one, and are dropped, but for those that stop the agent.
func (s *Session) answeredOnce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.screen.asks.answered()
	s.screen.dirty = true
	if _, shown := s.screen.dialog(); s.stop && !shown {
		s.let()
	}
	s.held, s.settling = nil, true
	s.schedule(time.Now())
}

// rested ends an answer. Keys that the person typed since the dialog went are dropped if another one is shown by now.
func (s *Session) rested() {
	defer s.sendMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, shown := s.screen.dialog(); shown {
		s.held = nil
	}
	s.settling = false
	s.let()
}

// leave ends an answer that was not given. Keys that the person typed meanwhile go to their dialog, unless that is gone
// or its keyboard is elsewhere now.
func (s *Session) leave(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.arrow.IsZero() {
		s.screen.asks.touched = a.arrow
	}
	d, shown := s.screen.dialog()
	asks := &s.screen.asks
	same := shown && asks.question != nil && asks.question.ID == a.question && d.Sum() == asks.sum
	if !s.stop && (!same || a.moved) {
		s.held = nil
	}
	s.let()
}

// answer is one that is being given. The session's mu guards it.
type answer struct {
	session  *Session
	question string
	to       int

	at      int       // where the keyboard was seen last
	since   time.Time // since when
	arrow   time.Time // when an arrow was pressed that has not been seen to work; zero otherwise
	moved   bool      // an arrow was pressed
	missing time.Time // since when no dialog is shown; zero while one is
	differs time.Time // since when another one is shown, or a part of it; zero while it is this one
	pressed time.Time
}

// choose brings the keyboard to the answer and presses return there.
func (a *answer) choose(now time.Time) (bool, error) {
	s := a.session.screen
	d, shown := s.dialog()
	if !shown {
		if a.missing.IsZero() {
			a.missing = now
		}
		if s.asks.question == nil || now.Sub(a.missing) >= absent {
			return false, thread.Kindf(thread.ErrRefused, "it asks nothing now")
		}
		a.since = now
		return false, nil
	}
	a.missing = time.Time{}
	switch q := s.asks.question; {
	case q == nil || q.ID != a.question || d.Sum() != s.asks.sum && !a.differs.IsZero() && now.Sub(a.differs) >= absent:
		return false, thread.Kindf(thread.ErrRefused, "it asks something else now")
	case d.Sum() != s.asks.sum: // it is being drawn, perhaps
		if a.differs.IsZero() {
			a.differs = now
		}
		a.since = now
		return false, nil
	case a.to < thread.Dismiss || a.to >= len(d.Choices):
		return false, thread.Kindf(thread.ErrInvalid, "there is no answer %d, only %d of them", a.to+1, len(d.Choices))
	case d.At < 0 && a.to != thread.Dismiss:
		return false, fmt.Errorf("its screen does not show where its keyboard is: %w", thread.ErrUnsupported)
	}
	a.differs = time.Time{}
	a.session.holding = true
	if a.since.IsZero() || d.At != a.at {
		a.at, a.since, a.arrow = d.At, now, time.Time{}
	}
	if !a.arrow.IsZero() {
		if now.Sub(a.arrow) >= arrowLimit {
			return false, fmt.Errorf("its keyboard does not move: %w", thread.ErrUnsupported)
		}
		return false, nil
	}
	switch {
	case a.session.stop:
		return false, fmt.Errorf("ctrl+c was pressed: %w", context.Canceled)
	case !a.session.answered.IsZero() && a.arrow.IsZero() && !s.printed.After(a.session.answered):
		return false, nil // it has not read the last key that went to a dialog, ours or the person's
	case !s.asks.touched.IsZero() && d.At == s.asks.at && now.Sub(s.asks.touched) < doubtDialog:
		return false, nil // the person has answered it, perhaps
	case now.Sub(s.asks.question.Since) < mounted:
		return false, nil // some agents draw a dialog before it takes keys
	}
	still := now.Sub(a.since)
	there := a.to == d.At || a.to == thread.Dismiss
	switch {
	case s.term.Modes().Sync || still < stepped || there && still < steady:
		return false, nil
	case there && a.session.proc.Unread():
		return false, nil // it has drawn something that was not looked at
	case there:
		return true, a.press(now)
	}
	a.arrow, a.moved, a.session.answered = now, true, now
	return false, a.session.proc.Write(input.AppendKey(nil, input.Key{Code: toward(d, a.to)}, s.term.Modes()))
}

// press presses the key that chooses, or leaves the dialog.
func (a *answer) press(now time.Time) error {
	a.pressed, a.session.answered = now, now
	key := input.Key{Code: input.KeyEnter}
	if a.to == thread.Dismiss {
		key.Code = input.KeyEscape
	}
	return a.session.proc.Write(input.AppendKey(nil, key, a.session.screen.term.Modes()))
}

// toward returns the arrow key that goes from where a dialog's keyboard is toward a choice.
func toward(d dialog.Dialog, to int) rune {
	switch back := to < d.At; {
	case d.Across && back:
		return input.KeyLeft
	case d.Across:
		return input.KeyRight
	case back:
		return input.KeyUp
	default:
		return input.KeyDown
	}
}

// taken waits until the dialog is gone, or another one has taken its place.
func (a *answer) taken(now time.Time) (bool, error) {
	s := a.session.screen
	if d, shown := s.dialog(); !shown || d.Sum() != s.asks.sum {
		return true, nil
	}
	if s.asks.question == nil || s.asks.question.ID != a.question {
		return true, nil
	}
	for _, e := range s.tracker.State(now).Evidence {
		if e.State == thread.StateWorking && e.At.After(a.pressed) {
			return true, nil
		}
	}
	return false, nil
}
