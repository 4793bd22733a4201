package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"orchestrator/agent"
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
	// promptLimit is after how long an agent whose rules tell when it takes a prompt is typed to without,
	// if it shows anything: a newer version may look different.
	promptLimit = 30 * time.Second
	// mounted is how long a prompt must have been seen: some show it before they read from it.
	mounted = time.Second
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
			s.takesPrompt(now) &&
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
	known := s.waits && !s.usable.IsZero()
	s.mu.Unlock()
	typed := strings.ReplaceAll(text, "\n", "\r")
	if paste {
		typed = "\x1b[200~" + text + "\x1b[201~"
	}
	began := time.Now()
	if err := s.Input([]byte(typed)); err != nil {
		return err
	}
	ok, err = s.settle(ctx, began, known, text, []byte(typed))
	if errors.Is(err, thread.ErrApproval) {
		return fmt.Errorf("a dialog opened: %w: %w", thread.ErrTyped, err)
	}
	if err != nil {
		return err
	}
	if !ok {
		return errNotTaken
	}
	return s.press(ctx)
}

// takesPrompt reports whether the agent can be typed to, as far as its rules tell. mu is held.
func (s *Session) takesPrompt(now time.Time) bool {
	switch {
	case !s.waits:
		return true
	case !s.usable.IsZero():
		return now.Sub(s.usable) >= mounted
	default:
		return now.Sub(s.first) >= promptLimit && strings.TrimSpace(s.term.Text()) != ""
	}
}

// settle waits until the agent has dealt with what was typed. Where its prompt is known, the text must
// stand there, and have stood there for a while: without, the return would send nothing, and one that
// follows too soon becomes part of the text.
func (s *Session) settle(ctx context.Context, began time.Time, known bool, text string, typed []byte) (bool, error) {
	if !known {
		_, err := s.await(ctx, max(settleLimit, s.all.settled), func(now time.Time) bool {
			return now.Sub(began) >= s.all.settled && now.Sub(s.printed) >= s.all.settled
		})
		return true, err
	}
	var seen time.Time
	again := false
	var typeErr error
	ok, err := s.await(ctx, s.all.takeLimit, func(now time.Time) bool {
		if typeErr != nil {
			return true
		}
		if seen.IsZero() {
			switch {
			case shows(s.term.Text(), text):
				seen = now
			case !again && now.Sub(began) >= s.all.takeLimit/2 && s.empty():
				again = true
				typeErr = s.proc.Write(typed) // it was thrown away while the agent got ready
			}
			return false
		}
		stood := now.Sub(seen)
		return stood >= settled && now.Sub(s.printed) >= settled || stood >= settleLimit
	})
	return ok, errors.Join(err, typeErr)
}

// empty reports whether the screen shows a prompt now. mu is held.
func (s *Session) empty() bool {
	r, ok := agent.Match(s.rules, strings.Split(s.term.Text(), "\n"), s.term.Title())
	return ok && r.Prompt && r.Lines != agent.InTitle
}

// left reports whether an agent that shows when its prompt is empty does not show so: the text was not
// taken yet. mu is held.
func (s *Session) left() bool {
	known := slices.ContainsFunc(s.rules, func(r agent.Rule) bool { return r.Prompt && r.Lines != agent.InTitle })
	return known && !s.usable.IsZero() && !s.empty()
}

// shows reports whether a screen shows the beginning or the end of a text, or a stand-in for a long
// one: lines may be wrapped, and the rest scrolled away.
func shows(screen, text string) bool {
	const enough = 12 // characters: fewer are wrapped less often
	bare := func(s string) []rune { return []rune(strings.Join(strings.Fields(s), "")) }
	first, _, _ := strings.Cut(text, "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	seen, head, end := string(bare(screen)), bare(first), bare(last)
	return strings.Contains(seen, string(head[:min(len(head), enough)])) ||
		strings.Contains(seen, string(end[max(0, len(end)-enough):])) ||
		strings.Contains(seen, "[Pasted")
}

// press sends the return and watches for its effect.
func (s *Session) press(ctx context.Context) error {
	pressed := time.Now()
	if err := s.Input([]byte("\r")); err != nil {
		return err
	}
	last := pressed
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
		left := s.left()
		if left && now.Sub(last) >= 2*pressAgain || !changed && last.Equal(pressed) && now.Sub(pressed) >= pressAgain {
			last = now
			pressErr = s.proc.Write([]byte("\r")) // some agents swallow the first after a paste
		}
		return changed && !left && now.Sub(pressed) >= believe
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
