package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// The bounds of what a thread may be asked.
const (
	maxQueued = 1000    // prompts that wait
	maxAsk    = 1 << 20 // bytes of one
	maxPast   = 20      // prompts that are over and are remembered
)

// sendTimeout is how long an agent may take to accept a prompt.
const sendTimeout = 2 * time.Minute

// retryAfter is how long a prompt that was not typed waits at most before it is tried again.
const retryAfter = 5 * time.Second

// desk is what a thread's agent was asked: the prompts that are not over, and the newest of those that are and were
// not answered. Each change is stored before it is told. A prompt is typed when the agent waits for one and has no
// other one open, so that each turn has its own.
type desk struct {
	mu     sync.Mutex      // guards all below; held while the store is called; taken before line.queue.mu and Manager.mu
	all    []thread.Prompt // by Seq
	typing thread.PromptID // is being typed by a goroutine
	again  bool            // something changed meanwhile
	lines  bool            // a goroutine waits for the thread's turn to have something typed
	primer string          // what this run's agent is told before all else
	begun  map[thread.PromptID]int
	told   map[thread.PromptID]bool
}

// asked is what others see of a desk at a glance; guarded by Manager.mu.
type asked struct {
	prompts []thread.Prompt // for Status
	queued  int
	open    bool   // the agent has one
	first   bool   // the one that a run begins with is being typed
	waits   string // why the oldest one is not typed
	toType  bool   // there is something to type
}

// at returns the place of a prompt, -1 where it is not on the desk. desk.mu is held.
func (d *desk) at(id thread.PromptID) int {
	return slices.IndexFunc(d.all, func(p thread.Prompt) bool { return p.ID == id })
}

// next returns the place of the oldest prompt that is queued, -1 where there is none. desk.mu is held.
func (d *desk) next() int {
	return slices.IndexFunc(d.all, func(p thread.Prompt) bool { return p.State == thread.PromptQueued })
}

// open reports whether the agent has a prompt. desk.mu is held.
func (d *desk) open() bool {
	return slices.ContainsFunc(d.all, func(p thread.Prompt) bool { return p.State == thread.PromptOpen })
}

// keep puts a prompt on the desk, or in the place of what it was. desk.mu is held.
func (d *desk) keep(p thread.Prompt) {
	if i := d.at(p.ID); i >= 0 {
		d.all[i] = p
	} else {
		d.all = append(d.all, p)
	}
	if p.State == thread.PromptAnswered { // what was not answered before it is the past's
		d.all = slices.DeleteFunc(d.all, func(o thread.Prompt) bool { return o.State.Over() && o.Seq <= p.Seq })
	}
	d.all = slices.DeleteFunc(d.all, func(o thread.Prompt) bool {
		return o.State == thread.PromptCancelled || o.State.Over() && o.ID == p.Again && p.Again != ""
	})
	past := 0
	for i := len(d.all) - 1; i >= 0; i-- {
		if d.all[i].State.Over() {
			if past++; past > maxPast {
				d.all = slices.Delete(d.all, i, i+1)
			}
		}
	}
	for id := range d.told {
		if d.at(id) < 0 {
			delete(d.told, id)
		}
	}
	for id := range d.begun {
		if d.at(id) < 0 {
			delete(d.begun, id)
		}
	}
}

// put stores a prompt and tells of it. Of a prompt that is stored already the change counts though the store refuses
// it: the next one brings it. desk.mu is held.
func (l *line) put(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	known := l.desk.at(p.ID) >= 0
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
	l.desk.keep(p)
	l.note()
	told := p.Brief()
	l.m.bus.publish(thread.Event{At: l.m.now(), Kind: thread.EventPrompt, ThreadID: l.id, Prompt: &told})
}

// The most that a Status shows of prompts.
const (
	maxListed   = 8
	maxListText = 200
)

// note shows others what the desk holds. desk.mu is held.
func (l *line) note() {
	d := &l.desk
	a := asked{open: d.open(), toType: d.primer != ""}
	for _, p := range d.all {
		switch {
		case p.State == thread.PromptQueued:
			a.queued++
			a.toType = true
		case p.State == thread.PromptTyping:
			a.first = p.From == thread.FromFirst || p.From == thread.FromPrimer
		case p.State.Over() && !p.State.Again():
			continue
		}
		if len(a.prompts) < maxListed {
			b := p.Brief()
			if len(b.Text) > maxListText {
				b.Text, b.Cut = plaintext.Cut(b.Text, maxListText), true
			}
			a.prompts = append(a.prompts, b)
		}
	}
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	a.waits = l.asked.waits
	if a.queued == 0 {
		a.waits = ""
	}
	l.asked = a
	l.m.show(l)
}

// wait notes why the oldest prompt is not typed, and tells of it when that is news. desk.mu is held.
func (l *line) wait(why string) {
	l.m.mu.Lock()
	news := l.asked.waits != why
	l.asked.waits = why
	l.m.mu.Unlock()
	i := l.desk.next()
	if !news || i < 0 {
		return
	}
	p := l.desk.all[i].Brief()
	p.Reason = why
	l.m.bus.publish(thread.Event{At: l.m.now(), Kind: thread.EventPrompt, ThreadID: l.id, Prompt: &p})
}

// takes returns the session that a prompt may be typed into now, nil with the reason where it may not.
func (l *line) takes() (thread.Session, string) {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	switch {
	case l.session == nil:
		return nil, "its agent does not run"
	case l.stopping:
		return nil, "its agent is being stopped"
	case l.silent:
		return l.session, ""
	}
	if l.limited() {
		return nil, "its provider's limit ends at " + l.shown.Until.Local().Format("15:04")
	}
	switch l.shown.State {
	case thread.StateWorking, thread.StateSilent:
		return nil, "its agent is working"
	case thread.StateApproval, thread.StateQuestion:
		return nil, "its agent waits for you"
	default:
		return l.session, ""
	}
}

// accept stores a prompt, and has it typed as soon as the agent takes one.
func (l *line) accept(ctx context.Context, queued thread.Prompt) (thread.Prompt, error) {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	queued.ID, queued.Thread, queued.State, queued.Accepted = thread.NewPromptID(), l.id, thread.PromptQueued, l.m.now()
	waiting := 0
	for _, o := range d.all {
		if o.State == thread.PromptQueued {
			waiting++
		}
	}
	if waiting >= maxQueued {
		return thread.Prompt{}, thread.Hint(errQueueFull, "wait until some are answered, or cancel some: orchestrator prompts")
	}
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
	return l.seen(d.all[d.at(p.ID)]), nil
}

// withdraw has a prompt that was refused cancelled once the store answers: it may have taken it with its last breath,
// and the next server must not type it.
func (l *line) withdraw(p thread.Prompt) {
	p.State, p.Ended, p.Reason = thread.PromptCancelled, l.m.now(), "it was not sent: the store did not answer"
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
		p.Reason = cmp.Or(l.asked.waits, p.Reason)
		l.m.mu.Unlock()
	}
	return p
}

// poke has what waits typed, if there is something; it does not block.
func (l *line) poke() {
	l.m.mu.Lock()
	some := l.asked.toType
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
	s, i := l.mayType()
	if s == nil || l.desk.lines {
		return
	}
	if leave, ok := l.m.hands.TryEnter(); ok {
		l.typeNow(s, i, leave)
		return
	}
	if !l.m.begin() {
		return
	}
	l.desk.lines = true
	l.wait("prompts of other threads are typed first")
	go func() {
		defer l.m.done()
		leave, ok := l.m.hands.Enter(l.m.closing)
		l.desk.mu.Lock()
		defer l.desk.mu.Unlock()
		l.desk.lines = false
		if !ok {
			return
		}
		if s, i := l.mayType(); s != nil { // it may have changed
			l.typeNow(s, i, leave)
		} else {
			leave()
		}
	}()
}

// mayType returns the session that takes a prompt now, and the place of the one that is to be typed: -1 for the primer
// alone. It is nil where there is none, or it has to wait, which it notes. desk.mu is held.
func (l *line) mayType() (thread.Session, int) {
	d := &l.desk
	if d.typing != "" {
		d.again = true
		return nil, 0
	}
	i := d.next()
	if i < 0 && d.primer == "" {
		return nil, 0
	}
	s, why := l.takes()
	if why == "" && d.open() && !l.leaves() {
		why = "another prompt is answered first"
	}
	if why != "" {
		l.wait(why)
		l.awaitLimit()
		return nil, 0
	}
	return s, i
}

// typeNow begins to type a prompt; leave tells when others may. desk.mu is held.
func (l *line) typeNow(s thread.Session, i int, leave func()) {
	d := &l.desk
	p := thread.Prompt{ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPrimer, Text: d.primer, Accepted: l.m.now()}
	text := d.primer
	if i >= 0 {
		p = d.all[i]
		text = joinPrompts(d.primer, p.Text)
	}
	p.State, p.Reason = thread.PromptTyping, ""
	p, err := l.put(l.m.ctx, p)
	if err != nil { // it must be known that it may have been typed
		if j := d.at(p.ID); j >= 0 {
			d.all[j].State = thread.PromptQueued
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
	d.typing = p.ID
	l.m.mu.Lock()
	d.begin(p.ID, l.requests)
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
	failed := l.unread && l.flying == 0 && r.State.Trouble() && len(r.Evidence) > 0
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

// begin remembers how many main requests there had been when a prompt came. desk.mu is held.
func (d *desk) begin(id thread.PromptID, requests int) {
	if d.begun == nil {
		d.begun, d.told = map[thread.PromptID]int{}, map[thread.PromptID]bool{}
	}
	d.begun[id] = requests
}

// typed takes note of how typing a prompt ended.
func (l *line) typed(s thread.Session, id thread.PromptID, err error) {
	failpoint.Hit("thread.ask.typed")
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.typing = ""
	again := d.again
	d.again = false
	l.m.mu.Lock()
	same, silent := l.session == s, l.silent
	l.m.mu.Unlock()
	if err == nil && same {
		d.primer = ""
	}
	later := false
	if i := d.at(id); i >= 0 && d.all[i].State == thread.PromptTyping {
		p := d.all[i]
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
	now := m.now()
	switch {
	case err == nil && silent:
		p.State, p.Opened, p.Ended = thread.PromptTaken, now, now
		p.Reason = "typed; this program does not report what it answers"
	case err == nil:
		p.State, p.Opened = thread.PromptOpen, now
	case errors.Is(err, errClosed), errors.Is(err, thread.ErrNotRunning):
		p.State, p.Reason = thread.PromptQueued, "its agent ended before it was typed"
	case !errors.Is(err, thread.ErrTyped) && (errors.Is(err, thread.ErrApproval) || errors.Is(err, thread.ErrBusy)):
		p.State, p.Reason = thread.PromptQueued, firstLine(err.Error())
		if later := (*thread.NotReadyError)(nil); errors.As(err, &later) {
			p.Reason = later.Reason
		}
		if p.From == thread.FromFirst {
			m.notice(l.id, thread.LevelInfo, "%s: the first prompt is sent once the agent takes it: %s", l.thread().DisplayName(), p.Reason)
		}
		return p, true
	default:
		p.State, p.Ended, p.Reason = thread.PromptRefused, now, firstLine(err.Error())
		m.notice(l.id, thread.LevelWarn, "%s: prompt %s was not sent: %v", l.thread().DisplayName(), p.ID, err)
	}
	return p, false
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
