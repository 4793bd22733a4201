package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/typing"
)

const (
	// maxPrompt is the longest prompt that is typed, in bytes.
	maxPrompt = 1 << 20
	// settled is how long an agent that shows nothing of what is typed must have been silent after a paste: a return that
	// follows too soon becomes part of it, or is lost.
	settled = 300 * time.Millisecond
	// settleLimit is how long to wait for silence at most: some screens never stop changing.
	settleLimit = 3 * time.Second
	// startLimit is how long to wait for what will be over in a moment, such as an agent's start.
	startLimit = 90 * time.Second
	// takeLimit is how long an agent may take to show a prompt, and then that it accepted it: with a hundred agents on two
	// processors some took longer than 20 s.
	takeLimit = time.Minute
	// plainLimit is how long to wait for an agent to ask for pastes once it shows its input: some show it first, and take
	// what is typed as keys until then, of which some are commands.
	plainLimit = 20 * time.Second
	// pressAgain is how long the input must go on showing the prompt until return is pressed once more.
	pressAgain = 2 * time.Second
	// believe is how long to wait for evidence of work before a changed screen is enough.
	believe = time.Second
	// alteredLimit is how long a prompt, a part of which the agent replaced, must be in the input before it is sent.
	alteredLimit = time.Second
	// look is how often the conditions are checked while a prompt is being sent, if nothing else happens.
	look = 20 * time.Millisecond
	// lookLater is how often once that takes longer than a second: a hundred agents may be waiting.
	lookLater = 100 * time.Millisecond
)

// errNotTaken is what Send returns when the agent shows nothing after the prompt.
var errNotTaken = errors.New("agent did not react to the prompt")

// Send types a prompt into the empty input of an agent that waits for one, and makes sure that it was accepted. What
// the person types in the meantime is held, and follows it.
func (s *Session) Send(ctx context.Context, text string) error {
	if s.run != nil {
		if err := s.ask(text); err != nil {
			return fmt.Errorf("send prompt: %w", err)
		}
		return nil
	}
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	if text = typing.Printable(text); text == "" {
		return thread.Kindf(thread.ErrInvalid, "send prompt: it is empty")
	}
	if len(text) > maxPrompt {
		err := fmt.Errorf("send prompt: it has %d bytes, and %d at most can be typed: %w",
			len(text), maxPrompt, thread.ErrInvalid)
		return thread.Hint(err, "write it to a file and name that")
	}
	if err := s.send(ctx, text); err != nil {
		return fmt.Errorf("send prompt: %w", err)
	}
	return nil
}

// Ready implements thread.Readier.
func (s *Session) Ready() error {
	if s.run != nil {
		return s.run.ready()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exit != nil {
		return thread.ErrNotRunning
	}
	if r, refused := s.refuses(time.Now()); refused {
		return &r.NotReadyError
	}
	return nil
}

func (s *Session) send(ctx context.Context, text string) error {
	p := &prompt{session: s, text: text}
	if err := s.await(ctx, startLimit, p.begin); err != nil {
		err = orElse(err, cmp.Or(p.why, err))
		s.refuse(err)
		return err
	}
	defer s.release()
	if err := s.await(ctx, s.pace.takeLimit, p.press); err != nil {
		return p.notSent(orElse(err, errNotTaken))
	}
	err := sent(s.await(ctx, s.pace.takeLimit, p.taken))
	switch {
	case err == nil, errors.Is(err, thread.ErrSent):
		return err
	case p.stuck():
		return p.notSent(orElse(err, errNotTaken))
	default:
		return orElse(err, thread.ErrNoReaction)
	}
}

// sent returns an error that kept Send from seeing what became of a prompt whose return was pressed.
func sent(err error) error {
	if errors.Is(err, thread.ErrNotRunning) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", thread.ErrSent, err)
	}
	return err
}

// refuse records why Send typed nothing, until that changes.
func (s *Session) refuse(err error) {
	var not *thread.NotReadyError
	if !errors.As(err, &not) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	told := *not
	s.refused = &told
	s.schedule(time.Now()) // it may have changed already
}

// prompt is a prompt that is being typed. Its methods are steps for await.
type prompt struct {
	session *Session
	text    string
	why     error // why it is not typed yet
	typed   []byte
	plain   time.Time // since when its input was shown without that it took pastes
	before  int       // how often the screen already showed it
	began   time.Time // when it was typed
	again   bool      // it was typed once more
	holds   string    // what the input holds
	since   time.Time // since when
	pressed time.Time // when return was first pressed
	last    time.Time // when return was last pressed
	gone    time.Time // when the input, or the prompt in it, disappeared
}

// begin types the prompt once nothing prevents it.
func (p *prompt) begin(now time.Time) (bool, error) {
	if r, refused := p.session.refuses(now); refused {
		err := r.NotReadyError
		p.why = &err
		switch {
		case r.brief:
			return false, nil
		case r.dialog:
			return false, fmt.Errorf("%w: %w", &err, thread.ErrApproval)
		}
		return false, &err
	}
	if p.keysOnly(now) {
		p.why = &thread.NotReadyError{Reason: "it takes no pastes yet"}
		return false, nil
	}
	p.session.refused = nil // that is over
	if p.session.screen.term.Modes().BracketedPaste {
		p.typed = []byte("\x1b[200~" + p.text + "\x1b[201~")
	} else {
		p.typed = []byte(strings.NewReplacer("\n", "\r", "\t", "    ").Replace(p.text))
	}
	p.before, p.began, p.session.holding, p.session.stop = typing.Within(p.session.screen.term.Text(), p.text), now, true, false
	return true, p.session.proc.Write(p.typed)
}

// keysOnly reports whether an agent that shows its input has not asked for pastes yet.
func (p *prompt) keysOnly(now time.Time) bool {
	if !p.session.found || p.session.screen.term.Modes().BracketedPaste {
		p.plain = time.Time{}
		return false
	}
	if p.plain.IsZero() {
		p.plain = now
	}
	return now.Sub(p.plain) < p.session.pace.plainLimit
}

// press presses return once the agent shows the prompt in its input.
func (p *prompt) press(now time.Time) (bool, error) {
	if err := p.disturbed(now); err != nil {
		return false, err
	}
	arrived, err := p.arrived(now)
	if !arrived || err != nil {
		return false, err
	}
	now = time.Now() // the prompt may have been drawn since await looked at the clock
	p.pressed, p.last, p.session.sent = now, now, now
	return true, p.session.proc.Write([]byte("\r"))
}

// disturbed returns an error if what was typed must not be sent.
func (p *prompt) disturbed(now time.Time) error {
	switch {
	case p.session.stop:
		return fmt.Errorf("ctrl+c was pressed: %w", context.Canceled)
	case isDialog(p.session.screen.tracker.State(now).State):
		return fmt.Errorf("a dialog opened: %w", thread.ErrApproval)
	}
	return nil
}

// arrived reports whether the whole prompt is in the input.
func (p *prompt) arrived(now time.Time) (bool, error) {
	quiet := now.Sub(p.session.screen.printed)
	if !p.session.screen.readsInput() || !p.session.found {
		seen, known := typing.Within(p.session.screen.term.Text(), p.text) > p.before, p.session.screen.waits && !p.session.screen.usable.IsZero()
		pause := p.session.pace.settled
		if seen && !known && !p.session.screen.term.Modes().BracketedPaste {
			pause = calm
		}
		silent := now.Sub(p.began) >= pause && quiet >= pause
		return (seen || !known) && (silent || now.Sub(p.began) >= max(settleLimit, p.session.pace.settled)), nil
	}
	in, found := p.session.screen.input(p.session.screen.term)
	if !found {
		return false, nil
	}
	if in.Text != p.holds || p.since.IsZero() {
		p.holds, p.since = in.Text, now
	}
	match, age := typing.Compare(in.Text, p.text), now.Sub(p.since)
	switch {
	case (in.Pasted || match == typing.Whole) && age >= in.PasteDelay, match == typing.Altered && age >= alteredLimit:
		return true, nil
	case in.Empty() && !p.again && now.Sub(p.began) >= p.session.pace.takeLimit/6 && p.session.screen.printed.After(p.began):
		p.again = true
		return false, p.session.proc.Write(p.typed) // it was lost while the agent started; one without output is only slow
	case match == typing.Other && age >= settleLimit:
		return false, errOther
	}
	return false, nil
}

// errOther is what Send returns when the input contains something else in the end.
var errOther = errors.New("the agent's input shows more than was typed")

// notSent returns the error of a prompt whose return was not pressed.
func (p *prompt) notSent(err error) error {
	p.session.mu.Lock()
	defer p.session.mu.Unlock()
	if p.session.found {
		if in, found := p.session.screen.input(p.session.screen.term); found && in.Empty() {
			return err
		}
	}
	return fmt.Errorf("%w: %w", thread.ErrTyped, err)
}

// taken waits for the effect of the return.
func (p *prompt) taken(now time.Time) (bool, error) {
	state := p.session.screen.tracker.State(now)
	if isDialog(state.State) {
		return true, nil // it asks already
	}
	for _, e := range state.Evidence {
		if e.State == thread.StateWorking && e.At.After(p.pressed) {
			return true, nil
		}
	}
	command := strings.HasPrefix(p.text, "/")
	changed, left, empty := p.session.screen.printed.After(p.pressed), p.left(), p.emptied()
	switch {
	case left:
		p.gone = time.Time{}
	case p.gone.IsZero():
		p.gone = now
	}
	enough := believe
	if p.session.found && !command {
		enough = settleLimit // some agents redraw their screen and then show the prompt in their input again
	}
	if changed && !left && (empty || now.Sub(p.gone) >= enough) {
		return true, nil
	}
	// A second return could choose in the menu that a command opens, and a program of which we see no input may ask
	// something by now. One whose screen has not changed may still get to the first return.
	if !command && now.Sub(p.last) >= p.session.pace.pressAgain && p.session.screen.printed.After(p.last) && p.holdsIt() {
		p.last = time.Now()
		return false, p.session.proc.Write([]byte("\r")) // some agents lose the first one after a paste
	}
	return false, nil
}

// holdsIt reports whether the agent's input is seen to hold the prompt.
func (p *prompt) holdsIt() bool {
	if !p.session.found {
		return false
	}
	in, found := p.session.screen.input(p.session.screen.term)
	match := typing.Compare(in.Text, p.text)
	return found && (in.Pasted || match == typing.Whole || match == typing.Altered)
}

// stuck is holdsIt for a caller that does not hold mu.
func (p *prompt) stuck() bool {
	p.session.mu.Lock()
	defer p.session.mu.Unlock()
	return p.holdsIt()
}

// emptied reports whether the input shows that the prompt is gone from it. If no input is shown at all, a frame may be
// half drawn.
func (p *prompt) emptied() bool {
	if !p.session.found {
		return false
	}
	in, found := p.session.screen.input(p.session.screen.term)
	return found && in.Empty()
}

// left reports whether the prompt is still in the input, as far as that can be observed.
func (p *prompt) left() bool {
	if p.session.found {
		in, found := p.session.screen.input(p.session.screen.term)
		return found && !in.Empty()
	}
	return p.session.screen.knows() && !p.session.screen.shows()
}

// await repeats a step, with mu held, until it is done or fails, the limit is over, the agent ends or ctx does. If the
// step returns no error and the limit is over, the error is errLate. While the agent's screen is empty, the limit does
// not begin: it draws.
func (s *Session) await(ctx context.Context, limit time.Duration, step func(now time.Time) (bool, error)) error {
	begin := time.Now()
	end, last := begin.Add(limit), begin.Add(startLimit)
	tick := time.NewTicker(look)
	defer tick.Stop()
	every := look
	for {
		now := time.Now()
		if every == look && now.Sub(begin) > time.Second {
			every = lookLater
			tick.Reset(every)
		}
		s.mu.Lock()
		if s.screen.dirty && now.Sub(s.screen.printed) >= quiet {
			s.screen.examine(now) // the timer may be late, and a dialog may be open
		}
		over := s.exit != nil
		var done bool
		var err error
		if !over {
			done, err = step(now)
		}
		if s.screen.draws() && now.Before(last) {
			end = now.Add(limit)
		}
		s.schedule(now)
		s.mu.Unlock()
		switch {
		case over:
			return thread.ErrNotRunning
		case err != nil || done:
			return err
		case now.After(end):
			return errLate
		}
		select {
		case <-tick.C:
		case <-s.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errLate is what await returns when its limit is over.
var errLate = errors.New("it took too long")

// orElse replaces the error of a limit, of await or of the caller, with another one.
func orElse(err, late error) error {
	if errors.Is(err, errLate) || errors.Is(err, context.DeadlineExceeded) {
		return late
	}
	return err
}
