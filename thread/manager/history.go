package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/manager/past"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// History has the use cases that read conversations and files of the past.
type History struct {
	cfg      *Config
	past     past.Reader
	registry *registry
}

// Timeline returns the checkpoints of a thread's lineage, newest first, across its fork point. Page.Before is a turn.
// With Page.Turns, which leaves the responses out, a turn's checkpoint carries the sum of its responses' usage.
func (m *History) Timeline(ctx context.Context, ref string, p thread.Page) ([]thread.Checkpoint, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return nil, err
	}
	t := l.live.thread()
	list := []thread.Checkpoint{}
	switch {
	case t.Head == "": // it may have been asked all the same
	case p.Turns:
		list, err = m.past.Turns(ctx, t.Head, p)
		if err == nil && p.All {
			list, err = m.withRest(ctx, t, p, list)
		}
	default:
		list, err = m.cfg.Store.Lineage(ctx, t.Head, p)
	}
	if err == nil && p.Turns && p.All {
		list, err = m.withPrompts(ctx, l, p, list)
	}
	if err != nil {
		return nil, fmt.Errorf("timeline of %s: %w", t.Name, err)
	}
	return list, nil
}

// searched is how many of the newest prompts are looked at.
const searched = 10_000

// withPrompts adds to a page of turns the prompts that no turn answered.
func (m *History) withPrompts(
	ctx context.Context, l *run, p thread.Page, turns []thread.Checkpoint,
) ([]thread.Checkpoint, error) {
	all, err := m.cfg.Store.Prompts(ctx, l.live.id, false, searched)
	if err != nil {
		return nil, fmt.Errorf("read the prompts: %w", err)
	}
	for i, p := range all {
		all[i] = l.typist.upToDate(p)
	}
	return insertPrompts(l.live.thread(), p, turns, all), nil
}

// withRest adds to a page of turns what Page.All asks for.
func (m *History) withRest(
	ctx context.Context, t thread.Thread, p thread.Page, turns []thread.Checkpoint,
) ([]thread.Checkpoint, error) {
	newest, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Limit: 1}) // it may be unreadable
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	head := newest[0]
	own, err := m.cfg.Store.Checkpoints(ctx, t.ID, thread.Page{Turns: true, Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(own, func(c thread.Checkpoint) bool { return c.Kind == thread.KindRewind }) {
		stands, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Limit: 1 << 20})
		if err != nil {
			return nil, err
		}
		in := make(map[thread.CheckpointID]bool, len(stands))
		for _, c := range stands {
			in[c.ID] = true
		}
		from := 0 // a page lists those that a rewind undid as far back as it goes itself
		if len(turns) > 0 && len(turns) == p.Limit {
			from = turns[len(turns)-1].Turn
		}
		own = slices.DeleteFunc(own, func(c thread.Checkpoint) bool {
			return c.Kind != thread.KindTurn || in[c.ID] || c.Turn < from || p.Before > 0 && int64(c.Turn) >= p.Before
		})
		turns = insertRewound(t.ID, turns, own)
	}
	if head.Kind == thread.KindResponse && (p.Before == 0 || int64(head.Turn) < p.Before) {
		turns = append([]thread.Checkpoint{head}, turns...)
	}
	return turns, nil
}

// insertRewound inserts turns that a rewind undid into a timeline, in the order in which the thread stored them: clocks
// can be changed. All are sorted newest first.
func insertRewound(id thread.ID, turns, left []thread.Checkpoint) []thread.Checkpoint {
	all := make([]thread.Checkpoint, 0, len(turns)+len(left))
	for _, c := range turns {
		for len(left) > 0 && (c.Thread != id || c.Seq < left[0].Seq) { // checkpoints from before the fork are older
			left[0].Rewound = true
			all, left = append(all, left[0]), left[1:]
		}
		all = append(all, c)
	}
	for _, c := range left {
		c.Rewound = true
		all = append(all, c)
	}
	return all
}

// Turn returns the content of the turn of a point.
func (m *History) Turn(ctx context.Context, ref, at string) ([]thread.Entry, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return nil, err
	}
	t := l.live.thread()
	c, err := m.past.Point(ctx, t, at)
	if err != nil {
		return nil, err
	}
	if c.ID == "" {
		return []thread.Entry{}, nil
	}
	items, err := m.cfg.Store.Conversation(ctx, c.ID)
	if errors.Is(err, thread.ErrDamaged) && !c.Damaged {
		return []thread.Entry{{Kind: thread.EntryPrompt, Text: c.Prompt}, {Kind: thread.EntryAnswer,
			Text: c.Answer + "\n\n(the rest of this turn cannot be read: the stored data is damaged)"}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read turn %d of %s: %w", c.Turn, t.Name, err)
	}
	if from := c.First - 1; from >= 0 && from < len(items) {
		return m.past.Entries(items[from:]), nil
	}
	// Older checkpoints do not say where their turn begins: where the previous one ended, or, if the conversation is
	// shorter than it was then, with the last prompt.
	if from, err := m.past.TurnStart(ctx, c); err == nil && from > 0 && from < len(items) {
		return m.past.Entries(items[from:]), nil
	}
	entries := m.past.Entries(items)
	for i := len(entries) - 1; i > 0; i-- {
		if entries[i].Kind == thread.EntryPrompt {
			return entries[i:], nil
		}
	}
	return entries, nil
}

// Diff compares the files of two points of a thread: "base" is where its branch began, "now" the current worktree, and
// empty points default to those two.
func (m *History) Diff(ctx context.Context, r thread.DiffRequest) ([]thread.FileDiff, error) {
	l, err := m.registry.find(r.Thread)
	if err != nil {
		return nil, err
	}
	t := l.live.thread()
	if m.cfg.Differ == nil {
		return nil, fmt.Errorf("diff of %s: %w", t.Name, thread.ErrNoRepository)
	}
	from, err := m.filesAt(ctx, t, cmp.Or(r.From, "base"))
	if err != nil {
		return nil, fmt.Errorf("diff of %s: %w", t.Name, err)
	}
	to, err := m.filesAt(ctx, t, cmp.Or(r.To, "now"))
	if err != nil {
		return nil, fmt.Errorf("diff of %s: %w", t.Name, err)
	}
	files, err := m.cfg.Differ.Diff(ctx, t.Dir, from, to)
	if err != nil {
		return nil, fmt.Errorf("diff of %s: %w", t.Name, err)
	}
	return files, nil
}

// filesAt returns the commit of a thread's files at a point, "" for the worktree itself.
func (m *History) filesAt(ctx context.Context, t thread.Thread, at string) (string, error) {
	switch at {
	case "now":
		return "", nil
	case "base":
		return m.past.BaseOf(ctx, t)
	}
	c, err := m.past.Point(ctx, t, at)
	if err != nil {
		return "", err
	}
	s, err := m.past.SnapshotAt(ctx, c.ID)
	if err != nil {
		return "", err
	}
	if s == nil {
		return "", thread.Hint(fmt.Errorf("files at %q: %w", at, thread.ErrNotFound), "no snapshot had been taken by then")
	}
	return s.Commit, nil
}

// Find searches names, changed files, prompts and answers.
func (m *History) Find(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	if m.cfg.Finder == nil {
		return nil, fmt.Errorf("search: %w", thread.ErrUnsupported)
	}
	if limit <= 0 {
		limit = 50
	}
	hits, err := m.cfg.Finder.Find(ctx, query, limit)
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", query, err)
	}
	kept, err := m.promptHits(ctx, query, limit)
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", query, err)
	}
	return m.listed(kept, hits[:max(0, min(len(hits), limit-len(kept)))])
}

// FindFile returns the newest turns that changed files whose paths have all words of a query.
func (m *History) FindFile(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	if m.cfg.Finder == nil {
		return nil, fmt.Errorf("search: %w", thread.ErrUnsupported)
	}
	hits, err := m.cfg.Finder.FindFile(ctx, query, limit)
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", query, err)
	}
	return m.listed(nil, hits)
}

// listed appends hits to others, without those of threads that are deleted.
func (m *History) listed(kept, hits []thread.Hit) ([]thread.Hit, error) {
	for _, h := range hits {
		t, ok, err := m.registry.look(h.Thread)
		if err != nil {
			return nil, err
		}
		if ok && t.Deleted.IsZero() {
			h.Name = t.Name
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// promptHits finds prompts without an answer that contain all words of a query, newest first; the others are found by
// their turns.
func (m *History) promptHits(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil, nil
	}
	all, err := m.cfg.Store.Prompts(ctx, "", false, searched)
	if err != nil {
		return nil, fmt.Errorf("read the prompts: %w", err)
	}
	var hits []thread.Hit
	for _, p := range slices.Backward(all) {
		if len(hits) >= limit {
			break
		}
		if l := m.registry.loaded(p.Thread); l != nil && !p.State.Over() {
			p = l.typist.upToDate(p)
		}
		text := strings.ToLower(p.Text)
		if p.State.Over() && !p.Unanswered() && !p.State.Again() || slices.ContainsFunc(words, func(w string) bool {
			return !strings.Contains(text, w)
		}) {
			continue
		}
		t, ok, err := m.registry.look(p.Thread)
		if err != nil {
			return nil, err
		}
		if !ok || !t.Deleted.IsZero() {
			continue
		}
		hits = append(hits, thread.Hit{
			Thread: t.ID, Name: t.Name, Prompt: p.ID, Where: string(p.State) + " prompt",
			Snippet: plaintext.Cut(secret.Redact(p.Text), outbox.MaxText), At: p.Accepted,
		})
	}
	return hits, nil
}
