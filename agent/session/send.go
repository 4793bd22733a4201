package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"orchestrator/thread"
)

const (
	// settled is how long the agent must have been silent after a paste: the return that follows too
	// soon becomes part of it, or is swallowed.
	settled = 300 * time.Millisecond
	// settleLimit is how long silence is awaited at most: some screens never stand still.
	settleLimit = 3 * time.Second
	// startLimit is how long an agent may take to be ready for a prompt.
	startLimit = 2 * time.Minute
	// takeLimit is how long an agent may take to show that it took a prompt: machines can be busy.
	takeLimit = 20 * time.Second
	// pressAgain is after how long without any output the return is sent once more.
	pressAgain = 2 * time.Second
	// believe is how long evidence of work is awaited before a changed screen is enough.
	believe = time.Second
	// look is how often the conditions are checked while a prompt is being sent.
	look = 20 * time.Millisecond
)

// errNotTaken is what Send returns when the agent shows nothing after the prompt.
var errNotTaken = errors.New("agent did not react to the prompt")

// errNotReady is what Send returns when the agent never got ready.
var errNotReady = errors.New("agent is not ready for a prompt")

// Send types a prompt and makes sure that it was taken. It never types into a dialog.
func (s *Session) Send(ctx context.Context, text string) error {
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	if text = printable(text); text == "" {
		return fmt.Errorf("send prompt: it is empty: %w", thread.ErrInvalid)
	}
	if err := s.send(ctx, text); err != nil {
		return fmt.Errorf("send prompt: %w", err)
	}
	return nil
}

func (s *Session) send(ctx context.Context, text string) error {
	ok, err := s.await(ctx, startLimit, func(now time.Time) bool {
		return !s.first.IsZero() && now.Sub(s.first) >= s.spec.Launch.Ready &&
			(now.Sub(s.printed) >= quiet || now.Sub(s.first) >= s.spec.Launch.Ready+settleLimit)
	})
	if err != nil {
		return err
	}
	if !ok {
		return errNotReady
	}

	s.mu.Lock()
	paste := s.term.Modes().BracketedPaste
	s.mu.Unlock()
	typed := strings.ReplaceAll(text, "\n", "\r")
	if paste {
		typed = "\x1b[200~" + text + "\x1b[201~"
	}
	began := time.Now()
	if err := s.Input([]byte(typed)); err != nil {
		return err
	}
	_, err = s.await(ctx, settleLimit, func(now time.Time) bool {
		return now.Sub(began) >= settled && now.Sub(s.printed) >= settled
	})
	if errors.Is(err, thread.ErrApproval) {
		return fmt.Errorf("a dialog opened while it was typed; it was not sent: %w", err)
	}
	if err != nil {
		return err
	}
	return s.press(ctx)
}

// press sends the return and watches for its effect.
func (s *Session) press(ctx context.Context) error {
	pressed := time.Now()
	if err := s.Input([]byte("\r")); err != nil {
		return err
	}
	again := false
	var pressErr error
	ok, err := s.await(ctx, s.all.takeLimit, func(now time.Time) bool {
		if pressErr != nil {
			return true
		}
		for _, e := range s.tracker.State(now).Evidence {
			if e.State == thread.StateWorking && e.At.After(pressed) {
				return true
			}
		}
		changed := s.printed.After(pressed)
		if !changed && !again && now.Sub(pressed) >= pressAgain {
			again = true
			pressErr = s.proc.Write([]byte("\r")) // some agents swallow the first after a paste
		}
		return changed && now.Sub(pressed) >= believe
	})
	switch {
	case errors.Is(err, thread.ErrApproval):
		return nil // it asks already
	case err != nil:
		return err
	case pressErr != nil:
		return pressErr
	case !ok:
		return errNotTaken
	}
	return nil
}

// await checks a condition, with mu held, until it is met or the limit is over. It fails when a dialog
// opens, the agent ends or ctx does.
func (s *Session) await(ctx context.Context, limit time.Duration, met func(now time.Time) bool) (bool, error) {
	end := time.Now().Add(limit)
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		now := time.Now()
		s.mu.Lock()
		if s.dirty && now.Sub(s.printed) >= quiet {
			s.examine(now) // the timer may be late, and a dialog may stand there
		}
		state, over := s.tracker.State(now).State, s.exit != nil
		ok := met(now)
		s.schedule(now)
		s.mu.Unlock()
		switch {
		case over:
			return false, thread.ErrNotRunning
		case state == thread.StateApproval || state == thread.StateQuestion:
			return false, thread.ErrApproval
		case ok:
			return true, nil
		case now.After(end):
			return false, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// printable takes from a prompt what a terminal could take for keys, and blank ends.
func printable(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
