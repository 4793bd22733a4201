package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// sendTimeout is how long an agent may take to accept a prompt.
const sendTimeout = 2 * time.Minute

// retryAfter is how long a prompt that was not typed waits at most before it is tried again.
const retryAfter = 5 * time.Second

// errQueueFull refuses what would wait behind too many others.
var errQueueFull = fmt.Errorf("%d prompts wait already: %w", maxQueued, thread.ErrLimit)

// accept stores a prompt, and has it typed as soon as the agent takes one.
func (l *typist) accept(ctx context.Context, queued thread.Prompt) (thread.Prompt, error) {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Queued() >= maxQueued {
		return thread.Prompt{}, thread.Hint(errQueueFull, "wait until some are answered, or cancel some: orchestrator prompts")
	}
	queued.ID, queued.Thread = thread.NewPromptID(), l.id
	queued = l.after(queued, outbox.Accepted, "")
	p, err := l.put(ctx, queued)
	if errors.Is(err, thread.ErrUnreachable) {
		l.withdraw(queued)
		return thread.Prompt{}, thread.Hint(fmt.Errorf("the prompt was not sent: %w", err),
			"send it again when the store is back, or type it in the agent itself, whose answers are kept until then")
	}
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("the prompt was not sent: %w", err)
	}
	failpoint.Hit("thread.ask.accepted")
	l.typeNext()
	p, _ = d.Prompt(p.ID) // it may be typed already
	return l.seen(p), nil
}

// withdraw has a prompt that was refused cancelled once the store answers: it may have taken it with its last breath,
// and the next server must not type it.
func (l *typist) withdraw(p thread.Prompt) {
	if p.State == thread.PromptQueued {
		p = l.after(p, outbox.Cancelled, "it was not sent: the store did not answer")
	}
	l.later(retryAfter, func() {
		if _, err := l.cfg.Store.PutPrompt(l.ctx, p); errors.Is(err, thread.ErrUnreachable) {
			l.withdraw(p)
		}
	})
}

// poke has what waits typed, if there is something; it does not block.
func (l *typist) poke() {
	l.mu.Lock()
	some := l.asked.ToType
	l.mu.Unlock()
	if !some || !l.begin() {
		return
	}
	go func() {
		defer l.done()
		l.desk.mu.Lock()
		defer l.desk.mu.Unlock()
		l.typeNext()
	}()
}

// typeNext begins to type the oldest prompt that is queued, if the agent takes one now. Threads are served in the order
// in which they could be. desk.mu is held.
func (l *typist) typeNext() {
	s, p := l.mayType()
	if s == nil || l.desk.Hand.Phase() == outbox.InLine {
		return
	}
	if leave, ok := l.hands.TryEnter(); ok {
		l.typeNow(s, p, leave)
		return
	}
	if !l.begin() {
		return
	}
	l.desk.Hand.LineUp()
	l.wait("prompts of other threads are typed first")
	go func() {
		defer l.done()
		leave, ok := l.hands.Enter(l.closing)
		l.desk.mu.Lock()
		defer l.desk.mu.Unlock()
		l.desk.Hand.LeaveLine()
		if !ok {
			return
		}
		if s, p := l.mayType(); s != nil { // it may have changed
			l.typeNow(s, p, leave)
		} else {
			leave()
		}
	}()
}

// mayType returns the session that takes a prompt now, and the prompt that is to be typed: none for the primer alone.
// The session is nil where there is nothing to type, or it has to wait, which it notes. desk.mu is held.
func (l *typist) mayType() (thread.Session, thread.Prompt) {
	d := &l.desk
	if d.Hand.Call() {
		return nil, thread.Prompt{}
	}
	p, queued := d.Next()
	if !queued && d.Primer() == "" {
		return nil, p
	}
	s, why := l.takes()
	if why == "" && d.Open() && !l.leaves() {
		why = "another prompt is answered first"
	}
	if why != "" {
		l.wait(why)
		l.awaitLimit()
		return nil, p
	}
	return s, p
}

// takes returns the session that a prompt may be typed into now, nil with the reason where it may not.
func (l *typist) takes() (thread.Session, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := outbox.Gate{Running: l.session != nil, Stopping: l.stopping, Silent: l.sight == sightNone, State: l.shown.State}
	if l.limited() {
		g.Limit = l.shown.Until
	}
	if why := g.Closed(); why != "" {
		return nil, why
	}
	return l.session, ""
}

// limited reports whether the agent has given up because of a limit whose end is known and still to come: a prompt that
// were typed now would be refused again. core.mu is held.
func (l *typist) limited() bool {
	r := l.shown
	return r.State == thread.StateLimited && r.Stuck && r.Until.After(l.now().Round(0))
}

// limitStep is the longest time between two looks at the clock while a provider's limit is waited for: clocks are set,
// and machines sleep.
const limitStep = 30 * time.Second

// awaitLimit has what waits typed once the limit is over. desk.mu is held.
func (l *typist) awaitLimit() {
	l.mu.Lock()
	due := !l.limited() || l.awaiting
	wait := l.shown.Until.Sub(l.now().Round(0))
	if !due {
		l.awaiting = true
	}
	l.mu.Unlock()
	if due {
		return
	}
	l.later(min(wait, limitStep), func() {
		l.mu.Lock()
		l.awaiting = false
		l.mu.Unlock()
		l.poke()
	})
}

// typeNow begins to type a prompt, or the primer alone; leave tells when others may. desk.mu is held.
func (l *typist) typeNow(s thread.Session, p thread.Prompt, leave func()) {
	d := &l.desk
	text := joinPrompts(d.Primer(), p.Text)
	if p.ID == "" {
		text = d.Primer()
		p = thread.Prompt{
			ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPrimer, Text: text, Accepted: l.now(),
		}
	}
	p, err := l.put(l.ctx, l.after(p, outbox.TypingBegan, ""))
	if err != nil { // it must be known that it may have been typed
		if p, known := d.Prompt(p.ID); known {
			d.Keep(l.after(p, outbox.Postponed, ""))
			l.note()
		}
		l.wait("the store refuses it: " + err.Error())
		l.later(retryAfter, l.poke)
		leave()
		return
	}
	failpoint.Hit("thread.ask.typing")
	if !l.begin() {
		leave()
		return // the next start finds it
	}
	d.Hand.Begin(p.ID)
	l.mu.Lock()
	d.Begin(p.ID, l.requests.Begun())
	l.mu.Unlock()
	l.wait("")
	go func() {
		defer l.done()
		err := l.send(s, text)
		leave()
		l.typed(s, p.ID, err)
	}()
}

// leaves reports whether a program of which only its requests are known seems to have left what it has unanswered: they
// failed, and no other one is under way after a while. Nothing else will ever tell. desk.mu is held.
func (l *typist) leaves() bool {
	l.mu.Lock()
	r := l.reported
	failed := l.sight.requestsAlone() && !l.requests.Flying() && r.State.Trouble() && len(r.Evidence) > 0
	l.mu.Unlock()
	if !failed {
		return false
	}
	if wait := turns.AfterRequest - l.now().Sub(r.Evidence[0].At); wait > 0 {
		l.later(wait, l.poke)
		return false
	}
	return true
}

// typed takes note of how typing a prompt ended.
func (l *typist) typed(s thread.Session, id thread.PromptID, err error) {
	failpoint.Hit("thread.ask.typed")
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	again := d.Hand.End()
	l.mu.Lock()
	same, silent := l.session == s, l.sight == sightNone
	l.mu.Unlock()
	if err == nil && same {
		d.Prime("")
	}
	later := false
	if p, known := d.Prompt(id); known && p.State == thread.PromptTyping {
		p, later = l.typedAs(p, err, silent)
		l.put(l.ctx, p) //nolint:errcheck // logged; the desk has it
	}
	switch {
	case errors.Is(err, errClosed), errors.Is(err, thread.ErrNotRunning):
		if same || s == nil {
			return // the next start tells it
		}
	case later && !again:
		l.later(retryAfter, l.poke)
		return
	}
	l.rest()
	l.typeNext()
}

// typedAs returns what a prompt is after it was typed or was not; later is set where it is to be tried again.
func (l *typist) typedAs(p thread.Prompt, err error, silent bool) (_ thread.Prompt, later bool) {
	switch {
	case err == nil && silent:
		return l.after(p, outbox.Dealt, "typed; this program does not report what it answers"), false
	case err == nil:
		return l.after(p, outbox.Typed, ""), false
	case errors.Is(err, errClosed), errors.Is(err, thread.ErrNotRunning):
		return l.after(p, outbox.Postponed, "its agent ended before it was typed"), false
	case !errors.Is(err, thread.ErrTyped) && (errors.Is(err, thread.ErrApproval) || errors.Is(err, thread.ErrBusy)):
		reason := plaintext.FirstLine(err.Error())
		if later := (*thread.NotReadyError)(nil); errors.As(err, &later) {
			reason = later.Reason
		}
		if p.From == thread.FromFirst {
			l.notice(l.id, thread.LevelInfo, "%s: the first prompt is sent once the agent takes it: %s", l.thread().DisplayName(), reason)
		}
		return l.after(p, outbox.Postponed, reason), true
	default:
		l.notice(l.id, thread.LevelWarn, "%s: prompt %s was not sent: %v", l.thread().DisplayName(), p.ID, err)
		return l.after(p, outbox.Refused, plaintext.FirstLine(err.Error())), false
	}
}

// send hands a prompt to an agent. The end of the server cuts it short: errClosed.
func (l *typist) send(s thread.Session, text string) error {
	ctx, cancel := context.WithTimeout(l.ctx, sendTimeout)
	defer cancel()
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	go func() {
		select {
		case <-l.closing:
			over(errClosed)
		case <-ctx.Done():
		}
	}()
	err := s.Send(ctx, text)
	if err != nil && errors.Is(context.Cause(ctx), errClosed) {
		return errClosed
	}
	return err
}

// prime is the step at a start that notes what the agent is told before all else, and forgets what another run was to
// be told.
func (l *typist) prime(ctx context.Context, primer string) {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.Which(func(p thread.Prompt) bool { return p.From == thread.FromPrimer && p.State == thread.PromptQueued }) {
		l.put(ctx, l.after(p, outbox.Forgotten, p.Reason)) //nolint:errcheck // logged; the desk has it
	}
	d.Prime(primer)
	l.note()
	l.typeNext()
}

// rest looks after a while whether the agent is at rest with a prompt that it took. It does not block.
func (l *typist) rest() { l.restFor(turns.AfterRequest) }

func (l *typist) restFor(wait time.Duration) {
	l.mu.Lock()
	due := l.judging
	if l.asked.Open {
		l.judging = true
	}
	open := l.asked.Open
	l.mu.Unlock()
	if due || !open {
		return
	}
	l.later(wait, func() {
		l.mu.Lock()
		l.judging = false
		l.mu.Unlock()
		if wait := l.judge(l.ctx); wait > 0 {
			l.restFor(wait)
		}
	})
}

// verdicts are what becomes of a prompt that the agent is at rest with.
var verdicts = map[turns.Verdict]outbox.Event{
	turns.Taken: outbox.Dealt, turns.Interrupted: outbox.Stopped, turns.Refused: outbox.Refused,
}

// judge is the step that ends prompts that the agent took and is at rest with; it returns when to look again, 0 for
// not before something happens.
func (l *typist) judge(ctx context.Context) time.Duration {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	l.mu.Lock()
	since, rests := atRest(l.reported)
	rests = rests && l.session != nil && l.requests.Quiet()
	requests, failure := l.requests.Begun(), l.requests.Failure()
	l.mu.Unlock()
	if !rests {
		return 0
	}
	var again time.Duration
	ended := false
	for _, p := range d.Which(func(p thread.Prompt) bool { return p.State == thread.PromptOpen && p.Turn == 0 }) {
		begun, known := d.Begun(p.ID)
		if !known {
			begun = requests
		}
		begin := since
		if p.Opened.After(begin) {
			begin = p.Opened
		}
		v, reason, wait := turns.Rest(turns.Resting{For: l.now().Sub(begin), Text: p.Text, Requests: requests - begun, Failure: failure})
		if v == turns.Wait {
			if again == 0 || wait < again {
				again = wait
			}
			continue
		}
		p = l.after(p, verdicts[v], reason)
		l.put(ctx, p) //nolint:errcheck // logged; the desk has it
		ended = true
		if v == turns.Refused {
			l.offerAgain(p)
		}
	}
	if ended {
		l.typeNext()
	}
	return again
}

// atRest reports since when an agent waits for a prompt: it is idle, or it has given up on its provider.
func atRest(r thread.StateReport) (since time.Time, ok bool) {
	return r.Since, waiting(r.State) || r.Stuck
}

// waiting reports whether an agent in this state waits for a prompt.
func waiting(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }

// offerAgain says how a prompt that a limit refused can go on by itself when the limit ends, or has it do so where the
// settings say it.
func (l *typist) offerAgain(p thread.Prompt) {
	l.mu.Lock()
	limited, until, name := l.limited(), l.shown.Until.Local().Format("15:04"), l.t.Name
	l.mu.Unlock()
	if !limited || p.Again != "" && !l.cfg.Limits.Continue {
		return
	}
	if !l.cfg.Limits.Continue {
		l.notice(l.id, thread.LevelInfo, "%s: the limit ends at %s; `orchestrator prompts again %s` has prompt %s sent again then", name, until, p.ID, p.ID)
		return
	}
	l.enqueue(func() {
		if _, err := l.askAgain(l.ctx, p); err != nil {
			l.notice(l.id, thread.LevelWarn, "%s: prompt %s is not sent again when the limit ends: %v", name, p.ID, err)
			return
		}
		l.notice(l.id, thread.LevelInfo, "%s: the limit ends at %s; prompt %s is sent again then", name, until, p.ID)
	})
}

// askAgain sends a prompt again that was interrupted or refused.
func (l *typist) askAgain(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	p = l.onDesk(p)
	switch {
	case !p.State.Again():
		return p, thread.Hint(fmt.Errorf("send prompt %s again: it is %s: %w", p.ID, p.State, thread.ErrRefused), "only prompts that were interrupted or refused can be")
	case l.running() == nil:
		return p, thread.Hint(fmt.Errorf("send prompt %s again: %s: %w", p.ID, l.thread().Name, thread.ErrNotRunning), "resume it first")
	}
	from := p.From
	if from == thread.FromPane || from == thread.FromFirst {
		from = thread.FromVerb
	}
	again, err := l.accept(ctx, thread.Prompt{From: from, Text: p.Text, Again: p.ID})
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send prompt %s again: %w", p.ID, err)
	}
	return again, nil
}
