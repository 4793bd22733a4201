package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/turns"
)

// The bounds of what a thread may be asked.
const (
	maxQueued = 1000    // prompts that wait
	maxAsk    = 1 << 20 // bytes of one
)

// sendTimeout is how long an agent may take to accept a prompt.
const sendTimeout = 2 * time.Minute

// retryAfter is how long a prompt that was not typed waits at most before it is tried again.
const retryAfter = 5 * time.Second

// desk is what a thread's agent was asked. Each change is stored before it is told. A prompt is typed when the agent
// waits for one and has no other one open, so that each turn has its own.
type desk struct {
	mu sync.Mutex // guards the outbox; held while the store is called; taken before line.queue.mu and Manager.mu
	outbox.Outbox
}

// after returns a prompt as an event leaves it. What cannot happen to it is logged, and leaves it as it was.
func (l *line) after(p thread.Prompt, e outbox.Event, reason string) thread.Prompt {
	p, err := outbox.After(p, e, l.m.now(), reason)
	if err != nil {
		l.m.cfg.Log.Error("change a prompt", "thread", string(l.id), "prompt", string(p.ID), "err", err)
	}
	return p
}

// put stores a prompt and tells of it. Of a prompt that is stored already the change counts though the store refuses
// it: the next one brings it. desk.mu is held.
func (l *line) put(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	_, known := l.desk.Prompt(p.ID)
	stored, err := l.m.cfg.Store.PutPrompt(ctx, p)
	if err != nil && !known {
		return thread.Prompt{}, err
	}
	if err == nil {
		p = stored
	} else {
		l.m.cfg.Log.Warn("store a prompt", "thread", string(l.id), "prompt", string(p.ID), "state", string(p.State), "err", err)
	}
	l.place(p)
	return p, err
}

// place puts a prompt that is stored on the desk and tells of it. desk.mu is held.
func (l *line) place(p thread.Prompt) {
	l.desk.Keep(p)
	l.note()
	told := p.Brief()
	l.m.bus.Publish(thread.Event{At: l.m.now(), Kind: thread.EventPrompt, ThreadID: l.id, Prompt: &told})
}

// note shows others what the desk holds. desk.mu is held.
func (l *line) note() {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	l.asked = l.desk.Glance(l.asked.Waits)
	l.m.show(l)
}

// wait notes why the oldest prompt is not typed, and tells of it when that is news. desk.mu is held.
func (l *line) wait(why string) {
	l.m.mu.Lock()
	news := l.asked.Waits != why
	l.asked.Waits = why
	l.m.mu.Unlock()
	p, queued := l.desk.Next()
	if !news || !queued {
		return
	}
	p = p.Brief()
	p.Reason = why
	l.m.bus.Publish(thread.Event{At: l.m.now(), Kind: thread.EventPrompt, ThreadID: l.id, Prompt: &p})
}

// takes returns the session that a prompt may be typed into now, nil with the reason where it may not.
func (l *line) takes() (thread.Session, string) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	g := outbox.Gate{Running: l.session != nil, Stopping: l.stopping, Silent: l.silent, State: l.shown.State}
	if l.limited() {
		g.Limit = l.shown.Until
	}
	if why := g.Closed(); why != "" {
		return nil, why
	}
	return l.session, ""
}

// accept stores a prompt, and has it typed as soon as the agent takes one.
func (l *line) accept(ctx context.Context, queued thread.Prompt) (thread.Prompt, error) {
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
func (l *line) withdraw(p thread.Prompt) {
	if p.State == thread.PromptQueued {
		p = l.after(p, outbox.Cancelled, "it was not sent: the store did not answer")
	}
	l.later(retryAfter, func() {
		if _, err := l.m.cfg.Store.PutPrompt(l.m.ctx, p); errors.Is(err, thread.ErrUnreachable) {
			l.withdraw(p)
		}
	})
}

// seen returns a prompt with the reason for which it waits.
func (l *line) seen(p thread.Prompt) thread.Prompt {
	if p.State == thread.PromptQueued {
		l.m.mu.Lock()
		p.Reason = cmp.Or(l.asked.Waits, p.Reason)
		l.m.mu.Unlock()
	}
	return p
}

// poke has what waits typed, if there is something; it does not block.
func (l *line) poke() {
	l.m.mu.Lock()
	some := l.asked.ToType
	l.m.mu.Unlock()
	if !some || !l.m.begin() {
		return
	}
	go func() {
		defer l.m.done()
		l.desk.mu.Lock()
		defer l.desk.mu.Unlock()
		l.typeNext()
	}()
}

// The prompts of a server that are typed at a time, and for how long one is that others wait for: an agent's input is
// watched closely meanwhile, and an agent that gets no processor takes none.
const (
	typedAtOnce = 4
	typingShare = time.Second
)

// typeNext begins to type the oldest prompt that is queued, if the agent takes one now. Threads are served in the order
// in which they could be. desk.mu is held.
func (l *line) typeNext() {
	s, p := l.mayType()
	if s == nil || l.desk.Hand.Phase() == outbox.InLine {
		return
	}
	if leave, ok := l.m.hands.TryEnter(); ok {
		l.typeNow(s, p, leave)
		return
	}
	if !l.m.begin() {
		return
	}
	l.desk.Hand.LineUp()
	l.wait("prompts of other threads are typed first")
	go func() {
		defer l.m.done()
		leave, ok := l.m.hands.Enter(l.m.closing)
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
func (l *line) mayType() (thread.Session, thread.Prompt) {
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

// typeNow begins to type a prompt, or the primer alone; leave tells when others may. desk.mu is held.
func (l *line) typeNow(s thread.Session, p thread.Prompt, leave func()) {
	d := &l.desk
	text := joinPrompts(d.Primer(), p.Text)
	if p.ID == "" {
		text = d.Primer()
		p = thread.Prompt{
			ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPrimer, Text: text, Accepted: l.m.now(),
		}
	}
	p, err := l.put(l.m.ctx, l.after(p, outbox.TypingBegan, ""))
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
	if !l.m.begin() {
		leave()
		return // the next start finds it
	}
	d.Hand.Begin(p.ID)
	l.m.mu.Lock()
	d.Begin(p.ID, l.requests.Begun())
	l.m.mu.Unlock()
	l.wait("")
	go func() {
		defer l.m.done()
		err := l.m.send(s, text)
		leave()
		l.typed(s, p.ID, err)
	}()
}

// leaves reports whether a program of which only its requests are known seems to have left what it has unanswered: they
// failed, and no other one is under way after a while. Nothing else will ever tell. desk.mu is held.
func (l *line) leaves() bool {
	l.m.mu.Lock()
	r := l.reported
	failed := l.unread && !l.requests.Flying() && r.State.Trouble() && len(r.Evidence) > 0
	l.m.mu.Unlock()
	if !failed {
		return false
	}
	if wait := turns.AfterRequest - l.m.now().Sub(r.Evidence[0].At); wait > 0 {
		l.later(wait, l.poke)
		return false
	}
	return true
}

// typed takes note of how typing a prompt ended.
func (l *line) typed(s thread.Session, id thread.PromptID, err error) {
	failpoint.Hit("thread.ask.typed")
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	again := d.Hand.End()
	l.m.mu.Lock()
	same, silent := l.session == s, l.silent
	l.m.mu.Unlock()
	if err == nil && same {
		d.Prime("")
	}
	later := false
	if p, known := d.Prompt(id); known && p.State == thread.PromptTyping {
		p, later = l.typedAs(p, err, silent)
		l.put(l.m.ctx, p) //nolint:errcheck // logged; the desk has it
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
func (l *line) typedAs(p thread.Prompt, err error, silent bool) (_ thread.Prompt, later bool) {
	m := l.m
	switch {
	case err == nil && silent:
		return l.after(p, outbox.Dealt, "typed; this program does not report what it answers"), false
	case err == nil:
		return l.after(p, outbox.Typed, ""), false
	case errors.Is(err, errClosed), errors.Is(err, thread.ErrNotRunning):
		return l.after(p, outbox.Postponed, "its agent ended before it was typed"), false
	case !errors.Is(err, thread.ErrTyped) && (errors.Is(err, thread.ErrApproval) || errors.Is(err, thread.ErrBusy)):
		reason := firstLine(err.Error())
		if later := (*thread.NotReadyError)(nil); errors.As(err, &later) {
			reason = later.Reason
		}
		if p.From == thread.FromFirst {
			m.notice(l.id, thread.LevelInfo, "%s: the first prompt is sent once the agent takes it: %s", l.thread().DisplayName(), reason)
		}
		return l.after(p, outbox.Postponed, reason), true
	default:
		m.notice(l.id, thread.LevelWarn, "%s: prompt %s was not sent: %v", l.thread().DisplayName(), p.ID, err)
		return l.after(p, outbox.Refused, firstLine(err.Error())), false
	}
}

// send hands a prompt to an agent. The end of the server cuts it short: errClosed.
func (m *Manager) send(s thread.Session, text string) error {
	ctx, cancel := context.WithTimeout(m.ctx, sendTimeout)
	defer cancel()
	ctx, over := context.WithCancelCause(ctx)
	defer over(nil)
	go func() {
		select {
		case <-m.closing:
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
