package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// PutCheckpoint stores a checkpoint and moves its thread.
func (s *Store) PutCheckpoint(_ context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	if err := checkpoint.Check(c, d); err != nil {
		return thread.Checkpoint{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if row := s.checkpoints[c.ID]; row != nil {
		old := decode[thread.Checkpoint](row.doc)
		if err := checkpoint.CheckStored(old, c); err != nil {
			return thread.Checkpoint{}, err
		}
		return old, nil
	}
	row := s.threads[c.Thread]
	if row == nil {
		return thread.Checkpoint{}, fmt.Errorf("thread %s: %w", c.Thread, thread.ErrNotFound)
	}
	parentItems := 0
	if c.Parent != "" {
		p := s.checkpoints[c.Parent]
		if p == nil {
			return thread.Checkpoint{}, fmt.Errorf("parent checkpoint %s: %w", c.Parent, thread.ErrNotFound)
		}
		parentItems = p.count
	}
	if err := checkpoint.CheckKeep(c, d, parentItems); err != nil {
		return thread.Checkpoint{}, err
	}
	sizes := map[string]int64{}
	files, _ := s.files(c.Parent)
	for f, b := range files {
		sizes[f] = int64(len(b))
	}
	splices, err := checkpoint.Splices(sizes, d.Transcript)
	if err != nil {
		return thread.Checkpoint{}, err
	}
	for i := range splices {
		splices[i].Data = slices.Clone(splices[i].Data)
	}
	items := make([]thread.Item, len(d.Items))
	for i, it := range d.Items {
		items[i] = thread.Item{Wire: it.Wire, Raw: slices.Clone(it.Raw)}
	}
	for _, p := range d.Prompts {
		if _, err := s.putPrompt(p); err != nil {
			return thread.Checkpoint{}, err
		}
	}
	c = checkpoint.Normal(c)
	c.Seq = row.seq + 1
	c.Items = d.Keep + len(items)
	row.seq = c.Seq
	s.checkpoints[c.ID] = &checkpointRow{doc: encode(c), parent: c.Parent, thread: c.Thread, seq: c.Seq, turn: c.Turn,
		kind: c.Kind, keep: d.Keep, count: c.Items, items: items, chunks: splices}
	t := decode[thread.Thread](row.doc)
	checkpoint.Advance(&t, c)
	row.doc = encode(t)
	return decode[thread.Checkpoint](encode(c)), nil
}

// Checkpoint returns one checkpoint.
func (s *Store) Checkpoint(_ context.Context, id thread.CheckpointID) (thread.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return thread.Checkpoint{}, err
	}
	if r.bad {
		return thread.Checkpoint{}, damaged(id)
	}
	return decode[thread.Checkpoint](r.doc), nil
}

// Spoil damages the content of a checkpoint.
func (s *Store) Spoil(id thread.CheckpointID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkpoints[id].bad = true
}

// Unreadable implements thread.Unreadables.
func (s *Store) Unreadable() []thread.Checkpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []*checkpointRow
	for _, r := range s.checkpoints {
		if r.bad {
			rows = append(rows, r)
		}
	}
	return docs(rows)
}

func damaged(id thread.CheckpointID) error {
	return fmt.Errorf("checkpoint %s: %w", id, thread.ErrDamaged)
}

// row finds a checkpoint. The caller holds mu.
func (s *Store) row(id thread.CheckpointID) (*checkpointRow, error) {
	r := s.checkpoints[id]
	if r == nil {
		return nil, fmt.Errorf("checkpoint %s: %w", id, thread.ErrNotFound)
	}
	return r, nil
}

// Checkpoints returns a thread's own checkpoints, newest first.
func (s *Store) Checkpoints(_ context.Context, id thread.ID, p thread.Page) ([]thread.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []*checkpointRow
	for _, r := range s.checkpoints {
		if r.thread == id && (p.Before == 0 || r.seq < p.Before) && checkpoint.Passes(p, r.kind) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *checkpointRow) int { return cmp.Compare(b.seq, a.seq) })
	return docs(rows[:min(len(rows), checkpoint.Limit(p))]), nil
}

// Lineage returns the checkpoints from one back to the root.
func (s *Store) Lineage(_ context.Context, id thread.CheckpointID, p thread.Page) ([]thread.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	var rows []*checkpointRow
	for ; r != nil && len(rows) < checkpoint.Limit(p); r = s.checkpoints[r.parent] {
		if (p.Before == 0 || int64(r.turn) < p.Before) && checkpoint.Passes(p, r.kind) {
			rows = append(rows, r)
		}
	}
	return docs(rows), err
}

func docs(rows []*checkpointRow) []thread.Checkpoint {
	out := make([]thread.Checkpoint, len(rows))
	for i, r := range rows {
		out[i] = decode[thread.Checkpoint](r.doc)
		if c := out[i]; r.bad {
			out[i] = thread.Checkpoint{ID: c.ID, Thread: c.Thread, Parent: c.Parent, Seq: c.Seq, Turn: c.Turn, Kind: c.Kind,
				Items: c.Items, Damaged: true}
		}
	}
	return out
}

// Conversation returns the items up to a checkpoint, oldest first.
func (s *Store) Conversation(_ context.Context, id thread.CheckpointID) ([]thread.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return nil, err
	}
	out := make([]thread.Item, r.count)
	for need := r.count; need > 0; r = s.checkpoints[r.parent] {
		if r.bad {
			return nil, damaged(id)
		}
		for i := r.keep; i < need; i++ {
			it := r.items[i-r.keep]
			out[i] = thread.Item{Wire: it.Wire, Raw: slices.Clone(it.Raw)}
		}
		need = min(need, r.keep)
	}
	return out, nil
}

// Transcript returns the native files as they were at a checkpoint, by name.
func (s *Store) Transcript(_ context.Context, id thread.CheckpointID) ([]thread.TranscriptFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, err := s.row(id); err != nil {
		return nil, err
	} else if r.bad {
		return nil, damaged(id)
	}
	var out []thread.TranscriptFile
	files, broken := s.files(id)
	if len(broken) > 0 {
		return nil, damaged(id)
	}
	for name, data := range files {
		out = append(out, thread.TranscriptFile{File: name, Data: data})
	}
	slices.SortFunc(out, func(a, b thread.TranscriptFile) int { return cmp.Compare(a.File, b.File) })
	return out, nil
}

// Marks returns the same files' sizes and hashes.
func (s *Store) Marks(ctx context.Context, id thread.CheckpointID) ([]thread.Mark, error) {
	files, err := s.Transcript(ctx, id)
	if err != nil {
		return nil, err
	}
	out := make([]thread.Mark, len(files))
	for i, f := range files {
		out[i] = thread.Mark{File: f.File, Size: int64(len(f.Data)), SHA256: sum(f.Data)}
	}
	return out, nil
}

// files replays a lineage's splices from the root on; broken are those that something damaged belongs to. The caller
// holds mu and may keep the result.
func (s *Store) files(id thread.CheckpointID) (out map[string][]byte, broken map[string]bool) {
	var lineage []*checkpointRow
	for r := s.checkpoints[id]; r != nil; r = s.checkpoints[r.parent] {
		lineage = append(lineage, r)
	}
	out, broken = map[string][]byte{}, map[string]bool{}
	for _, r := range slices.Backward(lineage) {
		if r.bad {
			for name := range out {
				broken[name] = true
			}
			for _, c := range r.chunks {
				broken[c.File] = true
			}
			clear(out)
			continue
		}
		for _, c := range r.chunks {
			if c.From == 0 {
				delete(broken, c.File)
			}
			if !broken[c.File] {
				out[c.File] = append(out[c.File][:c.From], c.Data...)
			}
		}
	}
	return out, broken
}

// Delta returns what a checkpoint added to its parent.
func (s *Store) Delta(_ context.Context, id thread.CheckpointID) (thread.Delta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.row(id)
	if err != nil {
		return thread.Delta{}, err
	}
	if r.bad {
		return thread.Delta{}, damaged(id)
	}
	d := thread.Delta{Keep: r.keep}
	for _, it := range r.items {
		d.Items = append(d.Items, thread.Item{Wire: it.Wire, Raw: slices.Clone(it.Raw)})
	}
	for _, c := range r.chunks {
		d.Transcript = append(d.Transcript, thread.Chunk{File: c.File, Offset: c.From, Data: slices.Clone(c.Data)})
	}
	return d, nil
}
