package manager

import (
	"cmp"
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

// retryAfter is the longest delay before a prompt that was not typed is tried again.
const retryAfter = 5 * time.Second

// errQueueFull is returned if too many prompts are queued.
var errQueueFull = fmt.Errorf("%d prompts are already queued: %w", maxQueued, thread.ErrLimit)

// accept stores a prompt and types it as soon as the agent is ready.
func (l *typist) accept(ctx context.Context, queued thread.Prompt) (thread.Prompt, error) {
	d := &l.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Queued() >= maxQueued {
		return thread.Prompt{}, thread.Hint(
			errQueueFull, "wait until some are answered, or cancel some with `orchestrator prompts`")
	}
	if err := l.cfg.consented(l.live.thread().Agent, queued); err != nil {
		return thread.Prompt{}, fmt.Errorf("prompt not sent: %w", err)
	}
	queued.ID, queued.Thread = cmp.Or(queued.ID, thread.NewPromptID()), l.live.id
	queued = l.after(queued, outbox.Accepted, "")
	p, err := l.put(ctx, queued)
	if errors.Is(err, thread.ErrUnreachable) {
		l.withdraw(queued)
		return thread.Prompt{}, thread.Hint(fmt.Errorf("prompt not sent: %w", err),
			"send it again when the store is back, or type it into the agent itself: its answers are kept until then")
	}
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("prompt not sent: %w", err)
	}
	failpoint.Hit("thread.ask.accepted")
	l.cfg.promptKnown(l.live.id, queued.Text)
	l.look()
	p, _ = d.Prompt(p.ID) // it may be typed already
	return l.seen(p), nil
}

// withdraw cancels a prompt that was refused once the store answers: the store may have stored it all the same, and the
// next server must not type it.
func (l *typist) withdraw(p thread.Prompt) {
	if p.State == thread.PromptQueued {
		p = l.after(p, outbox.Cancelled, "not sent: the store did not answer")
	}
	l.live.later(retryAfter, func() {
		if _, err := l.cfg.Store.PutPrompt(l.work.ctx, p); errors.Is(err, thread.ErrUnreachable) {
			l.withdraw(p)
		}
	})
}

// wake has it looked whether there is something to type now. It does not block, and is the one way in for whatever may
// have changed that: only accept looks itself, as its caller is told.
func (l *typist) wake() {
	l.live.mu.Lock()
	some := l.live.asked.ToType
	l.live.mu.Unlock()
	if !some || !l.work.begin() {
		return
	}
	go func() {
		defer l.work.done()
		l.outbox.mu.Lock()
		defer l.outbox.mu.Unlock()
		l.look()
	}()
}

// look starts typing the oldest queued prompt if the agent is ready. Threads are served in the order in which they
// became ready. outbox.mu is held.
func (l *typist) look() {
	s, p := l.mayType()
	if s == nil {
		return
	}
	if leave, ok := l.slots.TryAcquire(); ok {
		l.typeNow(s, p, leave)
		return
	}
	if !l.work.begin() {
		return
	}
	l.outbox.Wait()
	l.wait("waiting for prompts of other threads to be typed")
	go func() {
		defer l.work.done()
		leave, ok := l.slots.Acquire(l.work.closing)
		l.outbox.mu.Lock()
		defer l.outbox.mu.Unlock()
		l.outbox.Waited()
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

// mayType returns the session that is ready for a prompt, and the prompt to type: none if there is only the primer. The
// session is nil if there is nothing to type or it has to wait, which it records. outbox.mu is held.
func (l *typist) mayType() (thread.Session, thread.Prompt) {
	s, gate := l.gate()
	p, why, due := l.outbox.Decide(gate, l.leaves)
	switch {
	case due:
		return s, p
	case why != "":
		l.wait(why)
		l.awaitLimit()
	}
	return nil, p
}

// gate returns the session, and what decides whether a prompt may be typed into it now.
func (l *typist) gate() (thread.Session, outbox.Gate) {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	g := outbox.Gate{
		Running: l.live.session != nil, Stopping: l.live.ending == asked, Silent: l.live.visibility == notVisible, State: l.live.shown.State,
	}
	if l.limited() {
		g.Limit = l.live.shown.Until
	}
	return l.live.session, g
}

// limited reports whether the agent has given up because of a limit whose end is known and in the future: a prompt
// typed now would be refused again. liveThread.mu is held.
func (l *typist) limited() bool {
	r := l.live.shown
	return r.State == thread.StateLimited && r.Stuck && r.Until.After(l.cfg.now().Round(0))
}

// limitStep is the longest time between two checks of the clock while waiting for a provider's limit to end: clocks are
// changed, and machines sleep.
const limitStep = 30 * time.Second

// awaitLimit resumes typing once the limit has ended. outbox.mu is held.
func (l *typist) awaitLimit() {
	l.live.mu.Lock()
	due := l.limited() && l.live.awaiting.take()
	wait := l.live.shown.Until.Sub(l.cfg.now().Round(0))
	l.live.mu.Unlock()
	if !due {
		return
	}
	l.live.later(min(wait, limitStep), func() {
		l.live.mu.Lock()
		l.live.awaiting.release()
		l.live.mu.Unlock()
		l.wake()
	})
}

// typeNow starts typing a prompt, or only the primer; leave releases the slot for others. outbox.mu is held.
func (l *typist) typeNow(s thread.Session, p thread.Prompt, leave func()) {
	d := &l.outbox
	text := joinPrompts(d.Primer(), p.Text)
	apart := d.Alone() == "" && l.cfg.runsLines(l.live.thread().Agent) // by itself, it is one line
	if d.Primer() != "" && (p.ID == "" || apart) {
		text = d.Primer()
		p = thread.Prompt{
			ID: thread.NewPromptID(), Thread: l.live.id, From: thread.FromPrimer, Text: text, Accepted: l.cfg.now(),
		}
	}
	whole := p
	if d.Primer() == "" || p.From != thread.FromPrimer {
		whole.Text = text // a program that runs lines gets nothing that nobody agreed to, joined or not
	}
	if err := l.cfg.consented(l.live.thread().Agent, whole); err != nil { // an older server, or another machine, accepted it
		leave()
		p = l.after(l.after(p, outbox.TypingBegan, ""), outbox.Refused, plaintext.FirstLine(err.Error()))
		l.put(l.work.ctx, p) //nolint:errcheck // logged; the outbox has it
		l.live.enqueue(func() { l.given(p.ID, err) })
		l.wake()
		return
	}
	p, err := l.put(l.work.ctx, l.after(p, outbox.TypingBegan, ""))
	if err != nil { // it must be recorded that it may have been typed
		if p, known := d.Prompt(p.ID); known {
			d.Keep(l.after(p, outbox.Postponed, ""))
			l.note()
		}
		l.wait("the store rejects it: " + err.Error())
		l.live.later(retryAfter, l.wake)
		leave()
		return
	}
	failpoint.Hit("thread.ask.typing")
	text = joinPrompts(text, l.tells(p))
	alone := d.Alone() != "" // a program without a terminal waits for its servers itself, and not long for a prompt
	if !l.work.begin() {
		leave()
		return // the next start finds it
	}
	l.live.mu.Lock()
	d.Type(p.ID, l.live.requests.Begun())
	l.live.mu.Unlock()
	l.wait("")
	go func() {
		defer l.work.done()
		err := l.gives(p.ID, text)
		if err == nil {
			if !alone {
				l.awaitServers()
			}
			err = l.send(s, text)
		}
		leave()
		l.typed(s, p.ID, err)
	}()
}

// serversLimit is how long a prompt waits for MCP servers, whatever they do: those that wait have shorter limits.
const serversLimit = 12 * time.Second

// awaitServers waits until the agent has the tools that the prompt needs.
func (l *typist) awaitServers() {
	if l.cfg.MCP == nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.work.closing, serversLimit)
	defer cancel()
	l.cfg.MCP.Ready(ctx, l.live.id)
}

// leaves reports whether a program of which only the requests are visible seems to have given up a prompt: its requests
// failed, and no other one started for a while. Nothing else will ever tell. outbox.mu is held.
func (l *typist) leaves() bool {
	l.live.mu.Lock()
	r := l.live.reported
	failed := l.live.visibility.requestsAlone() && !l.live.requests.InFlight() && r.State.Trouble() && len(r.Evidence) > 0
	l.live.mu.Unlock()
	if !failed {
		return false
	}
	if wait := turns.AfterRequest - l.cfg.now().Sub(r.Evidence[0].At); wait > 0 {
		l.live.later(wait, l.wake)
		return false
	}
	return true
}

// typed records how typing a prompt ended.
func (l *typist) typed(s thread.Session, id thread.PromptID, err error) {
	failpoint.Hit("thread.ask.typed")
	defer l.given(id, err)
	d := &l.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	l.live.mu.Lock()
	gone, sees := l.live.session != s, l.live.visibility
	l.live.mu.Unlock()
	end := d.Typed(id, err, outbox.Reader{Gone: gone, Silent: sees == notVisible, Blind: sees.requestsAlone()})
	if end.Event != "" {
		l.notSent(end, err)
		l.put(l.work.ctx, l.after(end.Prompt, end.Event, end.Reason)) //nolint:errcheck // logged; the outbox has it
	}
	if gone && end.Event == outbox.Typed {
		l.live.enqueue(func() { l.outlived(id) })
	}
	switch {
	case errors.Is(err, thread.ErrNotRunning) && (!gone || s == nil):
		return // the next start reports it
	case end.Later:
		l.live.later(retryAfter, l.wake)
		return
	}
	l.checkIdle()
	l.wake()
}

// outlived is the step that ends a prompt which was typed as its process ended. If the end is not recorded yet, it is what
// ends the prompt.
func (l *typist) outlived(id thread.PromptID) {
	l.live.mu.Lock()
	ends := l.live.execution != nil && l.live.exit != nil
	l.live.mu.Unlock()
	if ends {
		return
	}
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if p, known := l.outbox.Prompt(id); known && p.State == thread.PromptOpen {
		l.put(l.work.ctx, l.after(p, outbox.Stopped, "the agent ended before it answered")) //nolint:errcheck // logged; the outbox has it
	}
}

// notSent tells of a first prompt that has to wait, and of one that was not sent at all.
func (l *typist) notSent(end outbox.Ending, err error) {
	name := l.live.thread().DisplayName()
	switch {
	case end.Event == outbox.Postponed && end.Prompt.From == thread.FromFirst && !errors.Is(err, thread.ErrNotRunning):
		l.notices.post(l.live.id, thread.LevelInfo, "%s: the first prompt will be sent when the agent is ready: %s", name, end.Reason)
	case end.Event == outbox.Refused:
		l.notices.post(l.live.id, thread.LevelWarn, "%s: prompt %s was not sent: %v", name, end.Prompt.ID, err)
	}
}

// send gives a prompt to an agent. The end of the server interrupts it: errClosed.
func (l *typist) send(s thread.Session, text string) error {
	ctx, cancel := context.WithTimeout(l.work.closing, sendTimeout)
	defer cancel()
	err := s.Send(ctx, text)
	if err != nil && errors.Is(context.Cause(ctx), errClosed) {
		if errors.Is(err, thread.ErrSent) {
			return fmt.Errorf("%w: %w", thread.ErrSent, errClosed)
		}
		return errClosed
	}
	return err
}

// prime is the step at a start that records the new primer and drops that of another run.
func (l *typist) prime(ctx context.Context, primer string) {
	d := &l.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.Filter(func(p thread.Prompt) bool {
		return p.From == thread.FromPrimer && p.State == thread.PromptQueued
	}) {
		l.put(ctx, l.after(p, outbox.Forgotten, p.Reason)) //nolint:errcheck // logged; the outbox has it
	}
	d.Prime(primer)
	l.note()
	l.look() // at once: until then an agent that is ready would be shown as idle
}

// checkIdle checks after a while whether the agent is idle with a prompt that it took. It does not block.
func (l *typist) checkIdle() { l.checkIdleAfter(turns.AfterRequest) }

func (l *typist) checkIdleAfter(wait time.Duration) {
	l.live.mu.Lock()
	due := l.live.asked.Open && l.live.judging.take()
	l.live.mu.Unlock()
	if !due {
		return
	}
	l.live.later(wait, func() {
		l.live.mu.Lock()
		l.live.judging.release()
		l.live.mu.Unlock()
		if wait := l.judge(l.work.ctx); wait > 0 {
			l.checkIdleAfter(wait)
		}
	})
}

// verdicts maps the verdicts on a prompt that the agent is idle with to events.
var verdicts = map[turns.Verdict]outbox.Event{
	turns.Taken: outbox.Taken, turns.Interrupted: outbox.Stopped, turns.Refused: outbox.Refused,
}

// judge is the step that ends prompts that the agent took and is idle with; it returns when to check again, 0 for not
// before something happens.
func (l *typist) judge(ctx context.Context) time.Duration {
	d := &l.outbox
	d.mu.Lock()
	defer d.mu.Unlock()
	l.live.mu.Lock()
	since, idle := idleSince(l.live.reported)
	idle = idle && l.live.session != nil && l.live.requests.Quiet()
	requests, failure := l.live.requests.Begun(), l.live.requests.Failure()
	unseen := l.live.course == aroundGateway || l.live.visibility.direct()
	l.live.mu.Unlock()
	if !idle {
		return 0
	}
	var again time.Duration
	ended := false
	for _, p := range d.Filter(func(p thread.Prompt) bool { return p.State == thread.PromptOpen && p.Turn == 0 }) {
		begun, known := d.Begun(p.ID)
		if !known {
			begun = requests
		}
		begin := since
		if p.Opened.After(begin) {
			begin = p.Opened
		}
		v, reason, wait := turns.Judge(turns.Idle{
			For: l.cfg.now().Sub(begin), Text: p.Text, Requests: requests - begun, Failure: failure, Unseen: unseen,
		})
		if v == turns.Wait {
			if again == 0 || wait < again {
				again = wait
			}
			continue
		}
		p = l.after(p, verdicts[v], reason)
		l.put(ctx, p) //nolint:errcheck // logged; the outbox has it
		ended = true
		if v == turns.Refused {
			l.offerAgain(p)
		}
	}
	if ended {
		l.wake()
	}
	return again
}

// idleSince returns since when an agent has been waiting for a prompt: it is idle, or it has given up on its provider.
func idleSince(r thread.StateReport) (since time.Time, ok bool) {
	return r.Since, waiting(r.State) || r.Stuck
}

// waiting reports whether an agent in this state waits for a prompt.
func waiting(s thread.State) bool { return s == thread.StateIdle || s == thread.StateDone }

// offerAgain tells how to resend a prompt that a limit refused when the limit ends, or resends it if configured.
func (l *typist) offerAgain(p thread.Prompt) {
	if l.outbox.Bound(p.ID) { // its execution goes on, or asks
		return
	}
	l.live.mu.Lock()
	limited, until, name := l.limited(), l.live.shown.Until.Local().Format(time.TimeOnly), l.live.t.Name
	l.live.mu.Unlock()
	if !limited || p.Again != "" && !l.cfg.Limits.Continue {
		return
	}
	if !l.cfg.Limits.Continue {
		l.notices.post(l.live.id, thread.LevelInfo,
			"%s: the limit ends at %s; run `orchestrator prompts again %s` to resend prompt %s then", name, until, p.ID, p.ID)
		return
	}
	l.live.enqueue(func() {
		if _, err := l.askAgain(l.work.ctx, p); err != nil {
			l.notices.post(l.live.id, thread.LevelWarn, "%s: prompt %s cannot be resent when the limit ends: %v", name, p.ID, err)
			return
		}
		l.notices.post(l.live.id, thread.LevelInfo, "%s: the limit ends at %s; prompt %s will be resent then", name, until, p.ID)
	})
}

// askAgain sends an interrupted or refused prompt again.
func (l *typist) askAgain(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	p = l.upToDate(p)
	switch {
	case !p.State.Again():
		return p, thread.Hint(thread.Kindf(thread.ErrRefused, "send prompt %s again: it is %s", p.ID, p.State),
			"only interrupted or refused prompts can be sent again")
	case l.live.running() == nil:
		return p, thread.Hint(fmt.Errorf("send prompt %s again: %s: %w", p.ID, l.live.thread().Name, thread.ErrNotRunning),
			"resume it first")
	}
	from := p.From
	if from == thread.FromPane || from == thread.FromFirst {
		from = thread.FromVerb
	}
	again, err := l.accept(ctx, thread.Prompt{From: from, Text: p.Text, Lines: p.Lines, Again: p.ID})
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send prompt %s again: %w", p.ID, err)
	}
	return again, nil
}
