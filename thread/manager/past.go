package manager

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// entries reads a conversation: our own items here, all others by the configured reader.
func (m *core) entries(items []thread.Item) []thread.Entry {
	var out []thread.Entry
	for len(items) > 0 {
		n := 1
		plain := items[0].Wire == thread.WirePlain
		for n < len(items) && (items[n].Wire == thread.WirePlain) == plain {
			n++
		}
		switch {
		case plain:
			out = append(out, thread.PlainEntries(items[:n])...)
		case m.cfg.Reader != nil:
			out = append(out, m.cfg.Reader.Entries(items[:n])...)
		}
		items = items[n:]
	}
	return out
}

// spoken reports which items contain words of the person.
func (m *core) spoken(items []thread.Item) []bool {
	out := make([]bool, len(items))
	for i := range items {
		out[i] = slices.ContainsFunc(m.entries(items[i:i+1]), func(e thread.Entry) bool {
			return e.Kind == thread.EntryPrompt && strings.TrimSpace(e.Text) != ""
		})
	}
	return out
}

// snapshotAt returns the newest snapshot at or before a checkpoint, nil if there is none.
func (m *core) snapshotAt(ctx context.Context, at thread.CheckpointID) (*thread.Snapshot, error) {
	if at == "" {
		return nil, nil
	}
	c, err := m.cfg.Store.Checkpoint(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint: %w", err)
	}
	if c.Snapshot != nil {
		return c.Snapshot, nil
	}
	list, err := m.cfg.Store.Lineage(ctx, at, thread.Page{Turns: true, Limit: 100})
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints: %w", err)
	}
	for _, c := range list {
		if c.Snapshot != nil {
			return c.Snapshot, nil
		}
	}
	return nil, nil
}

// baseOf returns the commit that a thread's work is compared with: where its branch began, or the HEAD of its first
// snapshot.
func (m *core) baseOf(ctx context.Context, t thread.Thread) (string, error) {
	if t.Worktree.Base != "" {
		return t.Worktree.Base, nil
	}
	list, err := m.cfg.Store.Checkpoints(ctx, t.ID, thread.Page{Turns: true, Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if s := list[i].Snapshot; s != nil && s.Base != "" {
			return s.Base, nil
		}
	}
	return "HEAD", nil
}

// changed returns the paths that differ between two snapshots, both names of a renamed file.
func (m *core) changed(ctx context.Context, dir string, from, to thread.Snapshot) ([]string, error) {
	if from.Commit == to.Commit {
		return nil, nil
	}
	files, err := m.cfg.Differ.Diff(ctx, dir, from.Commit, to.Commit)
	if err != nil {
		return nil, fmt.Errorf("compare the files: %w", err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.OldPath != "" {
			paths = append(paths, f.OldPath)
		}
	}
	return paths, nil
}

// changedFiles returns what the thread changed up to a checkpoint, as far as snapshots show.
func (m *core) changedFiles(ctx context.Context, t thread.Thread, at thread.Checkpoint) []thread.FileDiff {
	if m.cfg.Differ == nil {
		return nil
	}
	s, err := m.snapshotAt(ctx, at.ID)
	if err != nil || s == nil || s.Base == "" {
		return nil
	}
	files, err := m.cfg.Differ.Diff(ctx, t.Dir, s.Base, s.Commit)
	if err != nil {
		m.cfg.Log.Warn("compare the files for a handoff", "thread", string(t.ID), "err", err)
		return nil
	}
	return files
}

// point resolves a thread's "at": "" is the newest whole turn, a number is that turn, and anything else is a
// checkpoint's id or a prefix of it in the thread's lineage.
func (m *core) point(ctx context.Context, t thread.Thread, at string) (thread.Checkpoint, error) {
	if t.Head == "" {
		if at == "" {
			return thread.Checkpoint{}, nil
		}
		return thread.Checkpoint{}, fmt.Errorf("point %q of %s: no turns yet: %w", at, t.Name, thread.ErrNotFound)
	}
	if at == "" {
		return m.newestWhole(ctx, t)
	}
	if n, err := strconv.Atoi(at); err == nil && len(at) < 8 { // longer ones are ids without a letter
		return m.turnPoint(ctx, t, n)
	}
	return m.checkpointPoint(ctx, t, at)
}

// newestWhole returns the newest checkpoint that ends a turn.
func (m *core) newestWhole(ctx context.Context, t thread.Thread) (thread.Checkpoint, error) {
	head, err := m.cfg.Store.Checkpoint(ctx, t.Head)
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the newest checkpoint of %s: %w", t.Name, err)
	}
	if head.Whole() {
		return head, nil
	}
	list, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Limit: 1})
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the turns of %s: %w", t.Name, err)
	}
	if len(list) == 0 {
		return thread.Checkpoint{}, thread.Hint(
			fmt.Errorf("%s is in the middle of its first turn: %w", t.Name, thread.ErrBusy), "wait until it has answered")
	}
	return list[0], nil
}

// turnPoint returns the checkpoint that ended a turn.
func (m *core) turnPoint(ctx context.Context, t thread.Thread, turn int) (thread.Checkpoint, error) {
	// The newest one at or before the turn is nearly always the one that ended it; others of the same turn are rewinds to
	// it and safety checkpoints.
	for limit := 1; ; limit = 50 {
		list, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Turns: true, Before: int64(turn) + 1, Limit: limit})
		if err != nil {
			return thread.Checkpoint{}, fmt.Errorf("read the turns of %s: %w", t.Name, err)
		}
		var found thread.Checkpoint
		for _, c := range list {
			if c.Turn == turn && (found.ID == "" || c.Kind == thread.KindTurn && found.Kind != thread.KindTurn) {
				found = c
			}
		}
		switch {
		case found.ID != "" && (found.Kind == thread.KindTurn || limit > 1):
			return found, nil
		case found.ID == "":
			return thread.Checkpoint{}, thread.Hint(fmt.Errorf("turn %d of %s: %w", turn, t.Name, thread.ErrNotFound),
				"it has "+counted(t.Turn, "turn"))
		}
	}
}

// checkpointPoint returns the checkpoint with an id or a unique prefix of one, among those of the thread's lineage and
// its own. Checkpoints of other threads are not found: they are not its past.
func (m *core) checkpointPoint(ctx context.Context, t thread.Thread, at string) (thread.Checkpoint, error) {
	if len(at) < 4 {
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s: %w", at, t.Name, thread.ErrInvalid),
			"give the number of a turn or at least 4 digits of a checkpoint")
	}
	all := thread.Page{Limit: 1 << 20}
	list, err := m.cfg.Store.Lineage(ctx, t.Head, all)
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the checkpoints of %s: %w", t.Name, err)
	}
	own, err := m.cfg.Store.Checkpoints(ctx, t.ID, all) // including those that a rewind undid
	if err != nil {
		return thread.Checkpoint{}, fmt.Errorf("read the checkpoints of %s: %w", t.Name, err)
	}
	found := make(map[thread.CheckpointID]thread.Checkpoint)
	for _, c := range append(list, own...) {
		if strings.HasPrefix(string(c.ID), strings.ToLower(at)) {
			found[c.ID] = c
		}
	}
	switch len(found) {
	case 0:
		return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s: %w", at, t.Name, thread.ErrNotFound),
			"`orchestrator checkpoint list "+t.Name+"` lists them")
	case 1:
		for _, c := range found {
			return c, nil
		}
	}
	return thread.Checkpoint{}, thread.Hint(fmt.Errorf("point %q of %s is ambiguous, it matches %d checkpoints: %w", at,
		t.Name, len(found), thread.ErrInvalid), "give more digits")
}

// turns reads a page of turns with their responses' usage, in one pass over both.
func (m *core) turns(ctx context.Context, head thread.CheckpointID, p thread.Page) ([]thread.Checkpoint, error) {
	limit := p.Limit
	if limit <= 0 {
		limit = 100
	}
	list := make([]thread.Checkpoint, 0, limit)
	for next := head; next != ""; {
		all, err := m.cfg.Store.Lineage(ctx, next, thread.Page{Before: p.Before, Limit: 2*limit + 20})
		if err != nil {
			return nil, err
		}
		next = ""
		for _, c := range all {
			next = c.Parent
			if n := len(list); n > 0 && c.Kind == thread.KindTurn && list[n-1].Kind == thread.KindTurn &&
				list[n-1].Turn == c.Turn {
				continue // its agent continued after it by itself
			}
			if n := len(list); n > 0 && list[n-1].TakesBack(c) {
				list = list[:n-1]
				continue
			}
			if c.Kind != thread.KindResponse {
				if len(list) == limit {
					return list, nil
				}
				list = append(list, c)
				continue
			}
			if n := len(list); n > 0 && list[n-1].Kind == thread.KindTurn && list[n-1].Turn == c.Turn {
				list[n-1].Usage = list[n-1].Usage.Add(c.Usage)
			}
		}
	}
	return list, nil
}

// turnStart returns the number of items when a checkpoint's turn began.
func (m *core) turnStart(ctx context.Context, c thread.Checkpoint) (int, error) {
	before, err := m.cfg.Store.Lineage(ctx, c.ID, thread.Page{Turns: true, Before: int64(c.Turn), Limit: 1})
	if err != nil || len(before) == 0 || before[0].Note == thread.NoteRebuilt && c.Note != thread.NoteRebuilt {
		return 0, err // a rebuilt turn has fewer items than the agent's requests
	}
	return before[0].Items, nil
}

// since returns a thread's own checkpoints that came after another, newest first.
func (m *core) since(ctx context.Context, id thread.ID, to thread.Checkpoint) ([]thread.Checkpoint, error) {
	var all []thread.Checkpoint
	page := thread.Page{Limit: 200}
	for {
		list, err := m.cfg.Store.Checkpoints(ctx, id, page)
		if err != nil {
			return nil, fmt.Errorf("read the checkpoints: %w", err)
		}
		for _, c := range list {
			if !c.Created.After(to.Created) { // Seq counts within one conversation only
				return all, nil
			}
			all = append(all, c)
		}
		if len(list) < page.Limit {
			return all, nil
		}
		page.Before = list[len(list)-1].Seq
	}
}

// lastAnswer returns the last answer of a thread itself, "" if it has none. Answers that a rewind undid do not count.
func (m *core) lastAnswer(ctx context.Context, t thread.Thread) string {
	if t.Head == "" {
		return ""
	}
	stands, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Limit: 20})
	if err != nil {
		m.cfg.Log.Warn("read the last answer", "thread", string(t.ID), "err", err)
	}
	for _, c := range stands {
		if c.Thread == t.ID && c.Answer != "" && (c.Kind == thread.KindTurn || c.Kind == thread.KindResponse) {
			return secret.Redact(c.Answer)
		}
	}
	return ""
}

// finalAnswer returns the answer that ends the conversation of a whole turn, by our own record; "" if it ends otherwise
// or cannot be read.
func (m *core) finalAnswer(ctx context.Context, at thread.CheckpointID) string {
	c, err := m.cfg.Store.Checkpoint(ctx, at)
	if err != nil || !c.Whole() || c.Interrupted {
		return ""
	}
	items, err := m.cfg.Store.Conversation(ctx, at)
	if err != nil {
		return ""
	}
	entries := m.entries(items)
	if n := len(entries); n > 0 && entries[n-1].Kind == thread.EntryAnswer {
		return entries[n-1].Text
	}
	return ""
}
