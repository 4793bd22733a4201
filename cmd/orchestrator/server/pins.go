package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

// pins finds what keeps staged data from expiring: prompts, turns, handoffs and masks that name its token. It remembers
// what it has read of a thread, and reads only what is new.
type pins struct {
	store interface {
		Thread(context.Context, thread.ID) (thread.Thread, error)
		SelectThreads(context.Context, thread.Query) ([]thread.Thread, int64, error)
		thread.Prompts
		thread.Checkpoints
	}
	// masked returns the tokens that what is masked of a thread names, and what it was read from; since is what that was
	// the last time. With the same one it returns no tokens.
	masked func(id thread.ID, since int64) (tokens []thread.Token, now int64, err error)

	mu      sync.Mutex // guards all below; held while the store is read
	threads map[thread.ID]*pinned
}

// pinned is what has been read of a thread.
type pinned struct {
	head    thread.CheckpointID
	updated time.Time
	seq     int64 // of the newest checkpoint that was read
	prompts bool  // all have been read once
	masks   int64
	turns   map[thread.Token]string // the first thing that names the token; nil for none, as of most threads
	masked  map[thread.Token]bool
}

const (
	// maxReasons is how many things are named that need the same data.
	maxReasons = 4
	// newestPrompts is how many prompts are read again of a thread that has changed.
	newestPrompts = 200
)

// find returns what needs staged data, by its token.
func (p *pins) find(ctx context.Context) (map[thread.Token][]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.threads == nil {
		p.threads = map[thread.ID]*pinned{}
	}
	out := map[thread.Token][]string{}
	add := func(t thread.Token, why string) {
		if !slices.Contains(out[t], why) {
			out[t] = append(out[t], why)
		}
	}
	open, err := p.store.Prompts(ctx, "", true, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("read the prompts: %w", err)
	}
	for _, q := range open {
		for _, t := range thread.FindTokens(q.Text) {
			add(t, "prompt "+string(q.ID))
		}
	}
	there := make(map[thread.ID]bool, len(p.threads))
	err = thread.EachThread(ctx, p.store, thread.Query{}, func(t thread.Thread) error {
		there[t.ID] = true
		n := p.threads[t.ID]
		if n == nil {
			n = &pinned{}
			p.threads[t.ID] = n
		}
		if err := p.read(ctx, t); err != nil && !errors.Is(err, thread.ErrDamaged) {
			return fmt.Errorf("read what %s needs: %w", t.Name, err)
		}
		for token, where := range n.turns {
			add(token, where+" of "+t.Name)
		}
		for token := range n.masked {
			add(token, "what is masked in "+t.Name)
		}
		if h := t.Handoff; h != nil {
			for _, token := range slices.Concat(h.Staged, thread.FindTokens(h.Description+" "+h.ContextSummary)) {
				add(token, "the handoff to "+t.Name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the threads: %w", err)
	}
	maps.DeleteFunc(p.threads, func(id thread.ID, _ *pinned) bool { return !there[id] })
	for t, why := range out {
		slices.Sort(why)
		if more := len(why) - maxReasons; more > 0 {
			why = append(why[:maxReasons:maxReasons], fmt.Sprintf("%d more", more))
		}
		out[t] = why
	}
	return out, nil
}

// read reads what is new of a thread.
func (p *pins) read(ctx context.Context, t thread.Thread) error {
	n := p.threads[t.ID]
	if n.head != t.Head || !n.updated.Equal(t.Updated) || !n.prompts {
		if err := p.readTurns(ctx, t, n); err != nil {
			return err
		}
	}
	tokens, now, err := p.masked(t.ID, n.masks)
	if err != nil {
		return err
	}
	if n.masked == nil && len(tokens) > 0 {
		n.masked = map[thread.Token]bool{}
	}
	for _, token := range tokens {
		n.masked[token] = true
	}
	n.masks = now
	return nil
}

// readTurns reads the checkpoints and prompts that are new.
func (p *pins) readTurns(ctx context.Context, t thread.Thread, n *pinned) error {
	const page = 1000
	newest := n.seq
	for before := int64(0); ; {
		list, err := p.store.Checkpoints(ctx, t.ID, thread.Page{Before: before, Limit: page})
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Seq > n.seq {
				n.note(c)
			}
			newest = max(newest, c.Seq)
		}
		if len(list) < page || list[len(list)-1].Seq <= n.seq {
			break
		}
		before = list[len(list)-1].Seq
	}
	if n.seq == 0 && t.ForkPoint != "" && p.gone(ctx, t.Parent) { // the parent is gone, its turns are not
		list, err := p.store.Lineage(ctx, t.ForkPoint, thread.Page{Limit: 1 << 30})
		if err != nil {
			return err
		}
		for _, c := range list {
			n.note(c)
		}
	}
	limit := newestPrompts
	if !n.prompts {
		limit = 1 << 20
	}
	prompts, err := p.store.Prompts(ctx, t.ID, false, limit)
	if err != nil {
		return err
	}
	for _, q := range prompts {
		if q.State == thread.PromptAnswered { // its checkpoint has only the beginning
			n.name(q.Text, q.Turn)
		}
	}
	n.seq, n.prompts, n.head, n.updated = newest, true, t.Head, t.Updated
	return nil
}

// gone reports whether a thread is not stored any more.
func (p *pins) gone(ctx context.Context, id thread.ID) bool {
	_, err := p.store.Thread(ctx, id)
	return errors.Is(err, thread.ErrNotFound)
}

func (n *pinned) note(c thread.Checkpoint) { n.name(c.Prompt+" "+c.Answer, c.Turn) }

// name notes that a turn names the tokens in a text.
func (n *pinned) name(text string, turn int) {
	for _, t := range thread.FindTokens(text) {
		if n.turns == nil {
			n.turns = map[thread.Token]string{}
		}
		n.turns[t] = fmt.Sprintf("turn %d", turn)
	}
}
