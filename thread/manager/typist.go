package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"orchestrator/thread"
	"orchestrator/thread/ground/semaphore"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/manager/outbox"
)

// typist types a thread's prompts, one at a time, when the agent is ready for one.
type typist struct {
	live    *liveThread
	cfg     *Config
	bus     *events.Bus
	work    *work
	notices *notices
	slots   *semaphore.Semaphore // limits how many prompts are typed at once
	// prompted is called with every prompt that the person typed in the agent itself.
	prompted func(l *liveThread, text string)
	// gives is called before a prompt is given to the agent, which does not get it on an error, and given after that. The
	// outbox is not locked.
	gives func(id thread.PromptID, text string) error
	// tells returns what the agent is told after a prompt, "" for nothing. The outbox is locked.
	tells func(thread.Prompt) string
	given func(id thread.PromptID, err error)

	// outbox has its own lock: accepting a prompt does not wait for the queue.
	outbox guardedOutbox
}

// The limits on a thread's prompts.
const (
	maxQueued = 1000    // queued prompts
	maxAsk    = 1 << 20 // bytes of one prompt
)

// guardedOutbox is a thread's outbox with its lock. Each change is stored before it is published. A prompt is typed
// when the agent is ready for one and has none open, so that each turn has its own.
type guardedOutbox struct {
	mu sync.Mutex // guards the outbox; held while the store is called; taken before liveThread.queue.mu and liveThread.mu
	outbox.Outbox
}

// after returns a prompt as an event leaves it. An event that is not allowed is logged and changes nothing.
func (l *typist) after(p thread.Prompt, e outbox.Event, reason string) thread.Prompt {
	p, err := outbox.After(p, e, l.cfg.now(), reason)
	if err != nil {
		l.cfg.Log.Error("change a prompt", "thread", string(l.live.id), "prompt", string(p.ID), "err", err)
	}
	return p
}

// put stores a prompt and publishes it. A change to a prompt that is already stored takes effect even if the store
// refuses it: the next one brings it. outbox.mu is held.
func (l *typist) put(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	_, known := l.outbox.Prompt(p.ID)
	stored, err := l.cfg.Store.PutPrompt(ctx, p)
	if err != nil && !known {
		return thread.Prompt{}, err
	}
	if err == nil {
		p = stored
	} else {
		l.cfg.Log.Warn("store a prompt",
			"thread", string(l.live.id), "prompt", string(p.ID), "state", string(p.State), "err", err)
	}
	l.place(p)
	return p, err
}

// place puts a stored prompt in the outbox and publishes it. outbox.mu is held.
func (l *typist) place(p thread.Prompt) {
	l.outbox.Keep(p)
	l.note()
	told := p.Brief()
	l.bus.Publish(thread.Event{At: l.cfg.now(), Kind: thread.EventPrompt, ThreadID: l.live.id, Prompt: &told})
}

// note makes the content of the outbox visible to others. outbox.mu is held.
func (l *typist) note() {
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	l.live.asked = l.outbox.Glance(l.live.asked.Waits)
	l.live.show()
}

// take takes over stored prompts, and reports whether some of them are neither queued nor over.
func (l *typist) take(list []thread.Prompt) (left bool) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	for _, p := range list {
		l.outbox.Keep(p)
	}
	l.live.mu.Lock()
	l.live.asked = l.outbox.Glance(l.live.asked.Waits)
	l.live.mu.Unlock()
	return l.outbox.Any(func(p thread.Prompt) bool { return !p.State.Over() && p.State != thread.PromptQueued })
}

// wait records why the oldest prompt is not typed, and publishes it if it changed. outbox.mu is held.
func (l *typist) wait(why string) {
	l.live.mu.Lock()
	news := l.live.asked.Waits != why
	l.live.asked.Waits = why
	l.live.mu.Unlock()
	p, queued := l.outbox.Next()
	if !news || !queued {
		return
	}
	p = p.Brief()
	p.Reason = why
	l.bus.Publish(thread.Event{At: l.cfg.now(), Kind: thread.EventPrompt, ThreadID: l.live.id, Prompt: &p})
}

// seen returns a prompt with the reason why it waits.
func (l *typist) seen(p thread.Prompt) thread.Prompt {
	if p.State == thread.PromptQueued {
		l.live.mu.Lock()
		p.Reason = cmp.Or(l.live.asked.Waits, p.Reason)
		l.live.mu.Unlock()
	}
	return p
}

// serve has the agent given the prompt of an execution alone, or without one those that are no execution's.
func (l *typist) serve(a *attempt) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if a == nil {
		l.outbox.Serve("")
		return
	}
	l.outbox.Serve(a.prompt)
}

// bind keeps a prompt for the process of its execution.
func (l *typist) bind(id thread.PromptID) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	l.outbox.Bind(id)
}

// unbind undoes bind.
func (l *typist) unbind(id thread.PromptID) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	l.outbox.Unbind(id)
}

// busy reports whether a prompt waits to be typed, is typed, or is open.
func (l *typist) busy() bool {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	return len(l.outbox.Filter(func(p thread.Prompt) bool { return !p.State.Over() })) > 0
}

// upToDate returns the current version of a prompt: the store may lag behind.
func (l *typist) upToDate(p thread.Prompt) thread.Prompt {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if now, known := l.outbox.Prompt(p.ID); known {
		p = now
	}
	return l.seen(p)
}

// firstAsked returns the first prompt of a new thread.
func (l *typist) firstAsked() (thread.Prompt, error) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if first := l.outbox.Filter(func(p thread.Prompt) bool { return p.From == thread.FromFirst }); len(first) > 0 {
		return l.seen(first[0]), nil
	}
	return thread.Prompt{}, fmt.Errorf("first prompt of %s: %w", l.live.thread().Name, thread.ErrNotFound)
}

func (l *typist) moveOldNotes(ctx context.Context) error {
	store := l.cfg.Store
	raw, err := store.Setting(ctx, oldNotesKey(l.live.id))
	if err != nil || raw == "" {
		return err
	}
	var texts []string
	if err := json.Unmarshal([]byte(raw), &texts); err != nil {
		l.cfg.Log.Warn("read the pending notes of a thread", "thread", string(l.live.id), "err", err)
	}
	newest, err := store.Checkpoints(ctx, l.live.id, thread.Page{Turns: true, Limit: 1})
	if err != nil {
		return err
	}
	for i, text := range texts {
		if i == 0 && len(newest) > 0 && len(outbox.Claim(newest[0].Prompt, []thread.Prompt{{Text: text}})) > 0 {
			continue // it was sent just before the end
		}
		// With this id a second try stores the same prompt.
		id := thread.PromptID(fmt.Sprintf("p%.10s%02x", l.live.id, i&0xff))
		p := thread.Prompt{
			ID: id, Thread: l.live.id, From: thread.FromNote, Text: text, State: thread.PromptQueued, Accepted: l.cfg.now(),
		}
		if _, err := store.PutPrompt(ctx, p); err != nil {
			return err
		}
	}
	return store.SetSetting(ctx, oldNotesKey(l.live.id), "")
}

// oldNotesKey is the setting in which older versions kept pending notes to a thread's agent, and oldNotesMoved the one
// that says that all of them are prompts now.
func oldNotesKey(id thread.ID) string { return "tell:" + string(id) }

const oldNotesMoved = "tell moved"

// answersNote reports whether the agent is answering one of our notes, or one is being typed.
func (l *typist) answersNote() bool {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	return l.outbox.Any(func(p thread.Prompt) bool {
		return p.From == thread.FromNote && (p.State == thread.PromptTyping || p.State == thread.PromptOpen)
	})
}
