package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
)

// Prompts has the use cases for prompts.
type Prompts struct {
	cfg      *Config
	registry *registry
	offers   *Offers
}

// Ask accepts a prompt for a thread's agent: it is stored when Ask returns, and typed at once or when the agent is
// ready for one. If offers are automatic and the prompt leaves the thread's subject, it becomes the first prompt of a
// fork, which the returned prompt names. Events report its progress.
func (m *Prompts) Ask(ctx context.Context, ref string, r thread.AskRequest) (thread.Prompt, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.Prompt{}, err
	}
	name := l.live.thread().Name
	if err := checkAsk(r.Text); err != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	if l.live.thread().Once.On && (l.live.running() == nil || attemptOf(l) != nil) {
		return m.askRun(ctx, l, r)
	}
	if l.live.running() == nil {
		return thread.Prompt{}, thread.Hint(fmt.Errorf("send to %s: %w", name, thread.ErrNotRunning), "resume it first")
	}
	if l.live.thread().Once.On && r.Untyped != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: it is open in a terminal: %w", name, r.Untyped)
	}
	if err := l.sessions.typed(ctx, l.live.thread().Once.Session, r.By); err != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	if f, err := m.offers.autoFork(ctx, l, r.Text); f != nil || err != nil {
		if err != nil {
			return thread.Prompt{}, err
		}
		return f.typist.firstAsked()
	}
	if r.From == "" {
		r.From = thread.FromVerb
	}
	if !r.Agent && r.From == thread.FromVerb {
		m.offers.back.prompted(l.live, r.Text)
	}
	p, err := l.typist.accept(ctx, l.open.asks(r.By, thread.Prompt{From: r.From, Text: r.Text, Lines: r.Lines}))
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	if l.live.thread().Once.On { // its terminal may have ended meanwhile
		l.live.enqueue(func() { settleLeft(l.work.ctx, l) })
	}
	return p, nil
}

// askRun has a prompt become the next execution of a thread without a terminal, or a further prompt of the one that works.
func (m *Prompts) askRun(ctx context.Context, l *run, r thread.AskRequest) (p thread.Prompt, err error) {
	if r.From == "" {
		r.From = thread.FromVerb
	}
	env := thread.Environ(ctx)
	err = l.live.do(ctx, func(ctx context.Context) (err error) {
		p = l.open.asks(r.By, thread.Prompt{From: r.From, Text: r.Text, Lines: r.Lines})
		given := false
		if p, given, err = steer(ctx, l, p); !given {
			p, err = submit(ctx, l, p, order{env: env})
		}
		return err
	})
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: %w", l.live.thread().Name, err)
	}
	return p, nil
}

// List returns the newest prompts of a thread, or of all threads if ref is empty, oldest first; open leaves out
// those that have ended. Long texts and those of ended prompts are excerpts.
func (m *Prompts) List(ctx context.Context, ref string, open bool) ([]thread.Prompt, error) {
	return m.Newest(ctx, ref, open, 0)
}

// Newest is List with a limit of its own; 0 is the default limit.
func (m *Prompts) Newest(ctx context.Context, ref string, open bool, limit int) ([]thread.Prompt, error) {
	if limit <= 0 {
		limit = 200
	}
	var id thread.ID
	if ref != "" {
		l, err := m.registry.find(ref)
		if err != nil {
			return nil, err
		}
		id = l.live.id
	}
	list, err := m.cfg.Store.Prompts(ctx, id, open, limit)
	if err != nil {
		return nil, fmt.Errorf("read the prompts: %w", err)
	}
	out := []thread.Prompt{}
	hidden := map[thread.ID]bool{}
	for _, p := range list {
		if _, known := hidden[p.Thread]; !known {
			t, ok, err := m.registry.look(p.Thread)
			if err != nil {
				return nil, err
			}
			hidden[p.Thread] = !ok || !t.Deleted.IsZero()
		}
		if hidden[p.Thread] {
			continue
		}
		if l := m.registry.loaded(p.Thread); l != nil {
			p = l.typist.upToDate(p)
		}
		if open && p.State.Over() {
			continue
		}
		if p.State.Over() || len(p.Text) > maxWhole {
			p = p.Brief()
		}
		out = append(out, p)
	}
	m.markRewound(ctx, out)
	return out, nil
}

// markRewound marks the prompts whose turns a rewind undid. Only of threads with a turn that stands twice, or past their
// end, more is read.
func (m *Prompts) markRewound(ctx context.Context, list []thread.Prompt) {
	stands := map[thread.ID]map[thread.CheckpointID]bool{}
	next := map[thread.ID]thread.Prompt{} // the one that was answered after it
	for _, p := range slices.Backward(list) {
		if p.State != thread.PromptAnswered || p.Answer == "" {
			continue
		}
		t, ok, err := m.registry.look(p.Thread)
		if err != nil {
			m.cfg.Log.Warn("read which turns were undone", "thread", string(p.Thread), "err", err)
		}
		if !ok { // it was purged meanwhile, or is not known now
			continue
		}
		later, follows := next[p.Thread]
		next[p.Thread] = p
		again := follows && later.Turn <= p.Turn && later.Answer != p.Answer
		if !again && p.Turn <= t.Turn || stands[p.Thread] != nil {
			continue
		}
		turns, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Limit: 1 << 20})
		if err != nil { // the list is right without the marks
			m.cfg.Log.Warn("read which turns were undone", "thread", t.Name, "err", err)
			continue
		}
		stands[p.Thread] = map[thread.CheckpointID]bool{}
		for _, c := range turns {
			stands[p.Thread][c.ID] = true
		}
	}
	for i, p := range list {
		in := stands[p.Thread]
		list[i].Rewound = in != nil && p.State == thread.PromptAnswered && p.Answer != "" && !in[p.Answer]
	}
}

// maxWhole is the most bytes of a prompt that a list shows whole.
const maxWhole = 16 << 10

// Edit changes the text of a queued prompt.
func (m *Prompts) Edit(ctx context.Context, id thread.PromptID, text string) (thread.Prompt, error) {
	if err := checkAsk(text); err != nil {
		return thread.Prompt{}, fmt.Errorf("edit prompt %s: %w", id, err)
	}
	return m.changeQueued(ctx, "edit", id, outbox.Edited, func(p *thread.Prompt) { p.Text = text })
}

// Cancel withdraws a queued prompt.
func (m *Prompts) Cancel(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	return m.changeQueued(ctx, "cancel", id, outbox.Cancelled, func(p *thread.Prompt) { p.Reason = "" })
}

// changeQueued applies an event and a change to a queued prompt; typing cannot begin in the meantime.
func (m *Prompts) changeQueued(
	ctx context.Context, verb string, id thread.PromptID, e outbox.Event, change func(*thread.Prompt),
) (thread.Prompt, error) {
	p, l, err := m.prompt(ctx, id)
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("%s prompt: %w", verb, err)
	}
	l.typist.outbox.mu.Lock()
	defer l.typist.outbox.mu.Unlock()
	if now, known := l.typist.outbox.Prompt(id); known {
		p = now
	}
	switch {
	case p.State.Over():
		return p, thread.Kindf(thread.ErrRefused, "%s prompt %s: it is %s", verb, id, p.State)
	case p.State != thread.PromptQueued:
		return p, thread.Hint(fmt.Errorf("%s prompt %s: its agent already has it: %w", verb, id, thread.ErrBusy),
			"interrupt the agent")
	}
	was := p
	change(&p)
	if err := l.cfg.consented(l.live.thread().Agent, p); p.Text != was.Text && err != nil {
		return was, fmt.Errorf("%s prompt %s: %w", verb, id, err)
	}
	p = l.typist.after(p, e, p.Reason)
	stored, err := l.typist.put(ctx, p)
	if err != nil {
		l.typist.place(was) // not durable: roll back
		return was, fmt.Errorf("%s prompt %s: %w", verb, id, err)
	}
	if p.State == thread.PromptCancelled {
		l.typist.wake()
		l.open.look() // its execution is cancelled with it
	}
	return l.typist.seen(stored), nil
}

// Again sends an interrupted or refused prompt again, for the agent of a thread or, if by is empty, the person.
func (m *Prompts) Again(ctx context.Context, id thread.PromptID, by thread.ID) (thread.Prompt, error) {
	p, l, err := m.prompt(ctx, id)
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send prompt again: %w", err)
	}
	if p = l.typist.upToDate(p); l.live.thread().Once.On && (l.live.running() == nil || attemptOf(l) != nil) && p.State.Again() {
		env := thread.Environ(ctx)
		err := l.live.do(ctx, func(ctx context.Context) (err error) {
			p, err = submit(ctx, l, l.open.asks(by, thread.Prompt{From: thread.FromVerb, Text: p.Text, Lines: p.Lines}), order{again: p.ID, env: env})
			return err
		})
		return p, err
	}
	return l.typist.askAgain(ctx, p)
}

// Prompt returns one prompt of a thread as it is now.
func (m *Prompts) Prompt(ctx context.Context, ref string, id thread.PromptID) (thread.Prompt, error) {
	of, err := m.registry.find(ref)
	if err != nil {
		return thread.Prompt{}, err
	}
	p, l, err := m.prompt(ctx, id)
	if err == nil && l != of {
		err = fmt.Errorf("%q of %s: %w", id, of.live.thread().Name, thread.ErrNotFound)
	}
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("read prompt: %w", err)
	}
	return l.typist.upToDate(p), nil
}

// Thread returns the thread of a prompt.
func (m *Prompts) Thread(ctx context.Context, id thread.PromptID) (thread.Status, error) {
	_, l, err := m.prompt(ctx, id)
	if err != nil {
		return thread.Status{}, fmt.Errorf("find the thread of a prompt: %w", err)
	}
	return l.live.current(), nil
}

// prompt finds a prompt with its thread.
func (m *Prompts) prompt(ctx context.Context, id thread.PromptID) (thread.Prompt, *run, error) {
	p, err := m.cfg.Store.Prompt(ctx, id)
	if errors.Is(err, thread.ErrNotFound) {
		return p, nil, thread.Hint(thread.Kindf(thread.ErrNotFound, "there is no prompt %s", plaintext.Short(string(id), 40)), "list them with `orchestrator prompts`")
	}
	if err != nil {
		return p, nil, err
	}
	l, err := m.registry.certain(ctx, p.Thread)
	if err != nil {
		return p, nil, err
	}
	if l == nil || !l.live.thread().Deleted.IsZero() {
		return p, nil, fmt.Errorf("%q: its thread: %w", id, thread.ErrNotFound)
	}
	return p, l, nil
}
