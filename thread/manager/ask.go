package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// errQueueFull refuses what would wait behind too many others.
var errQueueFull = fmt.Errorf("%d prompts wait already: %w", maxQueued, thread.ErrLimit)

// Ask accepts a prompt for a thread's agent: it is stored when Ask returns, and typed at once or when the agent
// waits for one. Where offers are automatic and the prompt leaves the thread, it is the first one of a fork, which
// the returned prompt names. What becomes of it is told by events.
func (m *Manager) Ask(ctx context.Context, ref string, r thread.AskRequest) (thread.Prompt, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Prompt{}, err
	}
	name := l.thread().Name
	if err := checkAsk(r.Text); err != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	if l.running() == nil {
		return thread.Prompt{}, thread.Hint(fmt.Errorf("send to %s: %w", name, thread.ErrNotRunning), "resume it first")
	}
	if f, err := m.autoFork(ctx, l, r.Text); f != nil || err != nil {
		if err != nil {
			return thread.Prompt{}, err
		}
		return f.firstAsked()
	}
	if r.From == "" {
		r.From = thread.FromVerb
	}
	p, err := l.accept(ctx, thread.Prompt{From: r.From, Text: r.Text})
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send to %s: %w", name, err)
	}
	return p, nil
}

// checkAsk refuses what nobody can be asked.
func checkAsk(text string) error {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		return fmt.Errorf("empty text: %w", thread.ErrInvalid)
	}
	if len(text) > maxAsk {
		return thread.Hint(fmt.Errorf("%d bytes of text, at most %d can be typed: %w", len(text), maxAsk, thread.ErrInvalid), "put it in a file, and name the file")
	}
	return nil
}

// firstAsked returns the prompt that a new thread began with.
func (l *line) firstAsked() (thread.Prompt, error) {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	if first := l.desk.Which(func(p thread.Prompt) bool { return p.From == thread.FromFirst }); len(first) > 0 {
		return l.seen(first[0]), nil
	}
	return thread.Prompt{}, fmt.Errorf("first prompt of %s: %w", l.thread().Name, thread.ErrNotFound)
}

// Prompts returns the newest prompts of a thread, or of all threads where ref is empty, oldest first; open leaves
// out those that are over. Long texts and those of prompts that are over are excerpts.
func (m *Manager) Prompts(ctx context.Context, ref string, open bool) ([]thread.Prompt, error) {
	return m.NewestPrompts(ctx, ref, open, 0)
}

// NewestPrompts is Prompts with a limit of its own; 0 is that of Prompts.
func (m *Manager) NewestPrompts(ctx context.Context, ref string, open bool, limit int) ([]thread.Prompt, error) {
	if limit <= 0 {
		limit = 200
	}
	var id thread.ID
	if ref != "" {
		l, err := m.find(ref)
		if err != nil {
			return nil, err
		}
		id = l.id
	}
	list, err := m.cfg.Store.Prompts(ctx, id, open, limit)
	if err != nil {
		return nil, fmt.Errorf("read the prompts: %w", err)
	}
	out := []thread.Prompt{}
	for _, p := range list {
		l := m.line(p.Thread)
		if l == nil || !l.thread().Deleted.IsZero() {
			continue
		}
		p = l.onDesk(p)
		if open && p.State.Over() {
			continue
		}
		if p.State.Over() || len(p.Text) > maxWhole {
			p = p.Brief()
		}
		out = append(out, p)
	}
	return out, nil
}

// maxWhole is the most bytes of a prompt that a list holds whole.
const maxWhole = 16 << 10

// onDesk returns a prompt as it is now: the store may lag.
func (l *line) onDesk(p thread.Prompt) thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	if now, known := l.desk.Prompt(p.ID); known {
		p = now
	}
	return l.seen(p)
}

// EditPrompt changes the text of a prompt that is queued.
func (m *Manager) EditPrompt(ctx context.Context, id thread.PromptID, text string) (thread.Prompt, error) {
	if err := checkAsk(text); err != nil {
		return thread.Prompt{}, fmt.Errorf("edit prompt %s: %w", id, err)
	}
	return m.changeQueued(ctx, "edit", id, outbox.Edited, func(p *thread.Prompt) { p.Text = text })
}

// CancelPrompt withdraws a prompt that is queued.
func (m *Manager) CancelPrompt(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	return m.changeQueued(ctx, "cancel", id, outbox.Cancelled, func(p *thread.Prompt) { p.Reason = "" })
}

// changeQueued changes a prompt that is queued, as an event and change say; typing cannot begin meanwhile.
func (m *Manager) changeQueued(
	ctx context.Context, verb string, id thread.PromptID, e outbox.Event, change func(*thread.Prompt),
) (thread.Prompt, error) {
	p, l, err := m.prompt(ctx, id)
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("%s prompt: %w", verb, err)
	}
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	if now, known := l.desk.Prompt(id); known {
		p = now
	}
	switch {
	case p.State.Over():
		return p, fmt.Errorf("%s prompt %s: it is %s: %w", verb, id, p.State, thread.ErrRefused)
	case p.State != thread.PromptQueued:
		return p, thread.Hint(fmt.Errorf("%s prompt %s: its agent has it already: %w", verb, id, thread.ErrBusy), "interrupt the agent")
	}
	was := p
	change(&p)
	p = l.after(p, e, p.Reason)
	stored, err := l.put(ctx, p)
	if err != nil {
		l.place(was) // not durable: it is as it was
		return was, fmt.Errorf("%s prompt %s: %w", verb, id, err)
	}
	if p.State == thread.PromptCancelled {
		l.typeNext()
	}
	return l.seen(stored), nil
}

// AskAgain sends a prompt again that was interrupted or refused.
func (m *Manager) AskAgain(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	p, l, err := m.prompt(ctx, id)
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send prompt again: %w", err)
	}
	p = l.onDesk(p)
	switch {
	case !p.State.Again():
		return p, thread.Hint(fmt.Errorf("send prompt %s again: it is %s: %w", id, p.State, thread.ErrRefused), "only prompts that were interrupted or refused can be")
	case l.running() == nil:
		return p, thread.Hint(fmt.Errorf("send prompt %s again: %s: %w", id, l.thread().Name, thread.ErrNotRunning), "resume it first")
	}
	from := p.From
	if from == thread.FromPane || from == thread.FromFirst {
		from = thread.FromVerb
	}
	again, err := l.accept(ctx, thread.Prompt{From: from, Text: p.Text, Again: id})
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("send prompt %s again: %w", id, err)
	}
	return again, nil
}

// Prompt returns one prompt of a thread as it is now.
func (m *Manager) Prompt(ctx context.Context, ref string, id thread.PromptID) (thread.Prompt, error) {
	of, err := m.find(ref)
	if err != nil {
		return thread.Prompt{}, err
	}
	p, l, err := m.prompt(ctx, id)
	if err == nil && l != of {
		err = fmt.Errorf("%q of %s: %w", id, of.thread().Name, thread.ErrNotFound)
	}
	if err != nil {
		return thread.Prompt{}, fmt.Errorf("read prompt: %w", err)
	}
	return l.onDesk(p), nil
}

// prompt finds a prompt with its thread.
func (m *Manager) prompt(ctx context.Context, id thread.PromptID) (thread.Prompt, *line, error) {
	p, err := m.cfg.Store.Prompt(ctx, id)
	if errors.Is(err, thread.ErrNotFound) {
		return p, nil, thread.Hint(fmt.Errorf("%q: %w", id, thread.ErrNotFound), "orchestrator prompts lists them")
	}
	if err != nil {
		return p, nil, err
	}
	l := m.line(p.Thread)
	if l == nil || !l.thread().Deleted.IsZero() {
		return p, nil, fmt.Errorf("%q: its thread: %w", id, thread.ErrNotFound)
	}
	return p, l, nil
}

// tell queues something of our own for a thread's agent, whether it runs or not.
func (m *Manager) tell(ctx context.Context, l *line, text string) {
	if _, err := l.accept(ctx, thread.Prompt{From: thread.FromNote, Text: text}); err != nil {
		m.notice(l.id, thread.LevelWarn, "%s could not be told of the merge: %v", l.thread().DisplayName(), err)
	}
}

// promptHits finds prompts without an answer that hold all words of a search; the others are found by their turns.
func (m *Manager) promptHits(query string, limit int) []thread.Hit {
	words := strings.Fields(strings.ToLower(query))
	m.mu.Lock()
	defer m.mu.Unlock()
	var hits []thread.Hit
	for _, l := range slices.Backward(m.all()) {
		for _, p := range slices.Backward(l.asked.Prompts) {
			text := strings.ToLower(p.Text)
			if len(hits) >= limit || len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
				continue
			}
			hits = append(hits, thread.Hit{
				Thread: l.id, Name: l.t.Name, Prompt: p.ID, Where: string(p.State) + " prompt",
				Snippet: plaintext.Cut(secret.Redact(p.Text), outbox.MaxText), At: p.Accepted,
			})
		}
	}
	return hits
}
