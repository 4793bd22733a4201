package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
)

// typist types what a thread's agent was asked, one prompt at a time, when the agent takes one.
type typist struct {
	liveThread
	// desk has a lock of its own: what is asked does not wait for the queue.
	outbox guardedOutbox
}

// The bounds of what a thread may be asked.
const (
	maxQueued = 1000    // prompts that wait
	maxAsk    = 1 << 20 // bytes of one
)

// desk is what a thread's agent was asked. Each change is stored before it is told. A prompt is typed when the agent
// waits for one and has no other one open, so that each turn has its own.
type guardedOutbox struct {
	mu sync.Mutex // guards the outbox; held while the store is called; taken before liveThread.queue.mu and core.mu
	outbox.Outbox
}

// after returns a prompt as an event leaves it. What cannot happen to it is logged, and leaves it as it was.
func (l *typist) after(p thread.Prompt, e outbox.Event, reason string) thread.Prompt {
	p, err := outbox.After(p, e, l.now(), reason)
	if err != nil {
		l.cfg.Log.Error("change a prompt", "thread", string(l.id), "prompt", string(p.ID), "err", err)
	}
	return p
}

// put stores a prompt and tells of it. Of a prompt that is stored already the change counts though the store refuses
// it: the next one brings it. outbox.mu is held.
func (l *typist) put(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	_, known := l.outbox.Prompt(p.ID)
	stored, err := l.cfg.Store.PutPrompt(ctx, p)
	if err != nil && !known {
		return thread.Prompt{}, err
	}
	if err == nil {
		p = stored
	} else {
		l.cfg.Log.Warn("store a prompt", "thread", string(l.id), "prompt", string(p.ID), "state", string(p.State), "err", err)
	}
	l.place(p)
	return p, err
}

// place puts a prompt that is stored in the outbox and tells of it. outbox.mu is held.
func (l *typist) place(p thread.Prompt) {
	l.outbox.Keep(p)
	l.note()
	told := p.Brief()
	l.bus.Publish(thread.Event{At: l.now(), Kind: thread.EventPrompt, ThreadID: l.id, Prompt: &told})
}

// note shows others what the desk holds. outbox.mu is held.
func (l *typist) note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = l.outbox.Glance(l.asked.Waits)
	l.show()
}

// wait notes why the oldest prompt is not typed, and tells of it when that is news. outbox.mu is held.
func (l *typist) wait(why string) {
	l.mu.Lock()
	news := l.asked.Waits != why
	l.asked.Waits = why
	l.mu.Unlock()
	p, queued := l.outbox.Next()
	if !news || !queued {
		return
	}
	p = p.Brief()
	p.Reason = why
	l.bus.Publish(thread.Event{At: l.now(), Kind: thread.EventPrompt, ThreadID: l.id, Prompt: &p})
}

// seen returns a prompt with the reason for which it waits.
func (l *typist) seen(p thread.Prompt) thread.Prompt {
	if p.State == thread.PromptQueued {
		l.mu.Lock()
		p.Reason = cmp.Or(l.asked.Waits, p.Reason)
		l.mu.Unlock()
	}
	return p
}

// upToDate returns a prompt as it is now: the store may lag.
func (l *typist) upToDate(p thread.Prompt) thread.Prompt {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if now, known := l.outbox.Prompt(p.ID); known {
		p = now
	}
	return l.seen(p)
}

// firstAsked returns the prompt that a new thread began with.
func (l *typist) firstAsked() (thread.Prompt, error) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if first := l.outbox.Filter(func(p thread.Prompt) bool { return p.From == thread.FromFirst }); len(first) > 0 {
		return l.seen(first[0]), nil
	}
	return thread.Prompt{}, fmt.Errorf("first prompt of %s: %w", l.thread().Name, thread.ErrNotFound)
}

func (l *typist) moveOldNotes(ctx context.Context) error {
	store := l.cfg.Store
	raw, err := store.Setting(ctx, oldNotesKey(l.id))
	if err != nil || raw == "" {
		return err
	}
	var texts []string
	if err := json.Unmarshal([]byte(raw), &texts); err != nil {
		l.cfg.Log.Warn("what a thread was to be told cannot be read", "thread", string(l.id), "err", err)
	}
	newest, err := store.Checkpoints(ctx, l.id, thread.Page{Turns: true, Limit: 1})
	if err != nil {
		return err
	}
	for i, text := range texts {
		if i == 0 && len(newest) > 0 && len(outbox.Claim(newest[0].Prompt, []thread.Prompt{{Text: text}})) > 0 {
			continue // it was told in the moment of the end
		}
		// The id makes a second try the same prompt.
		id := thread.PromptID(fmt.Sprintf("p%.10s%02x", l.id, i&0xff))
		p := thread.Prompt{ID: id, Thread: l.id, From: thread.FromNote, Text: text, State: thread.PromptQueued, Accepted: l.now()}
		if _, err := store.PutPrompt(ctx, p); err != nil {
			return err
		}
	}
	return store.SetSetting(ctx, oldNotesKey(l.id), "")
}

// oldNotesKey is the setting in which older programs kept what a thread's agent was still to be told, and
// oldNotesMoved the one that says that all of it is prompts now.
func oldNotesKey(id thread.ID) string { return "tell:" + string(id) }

const oldNotesMoved = "tell moved"

// answersNote reports whether the agent is at a note of ours, or is just being told it.
func (l *typist) answersNote() bool {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	return l.outbox.Any(func(p thread.Prompt) bool {
		return p.From == thread.FromNote && (p.State == thread.PromptTyping || p.State == thread.PromptOpen)
	})
}
