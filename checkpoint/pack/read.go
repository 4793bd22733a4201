package pack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
)

// Rows are read in batches that start small, for what is near the end, and grow.
const (
	firstBatch = 8
	maxBatch   = 256
)

// backward unpacks a row and its ancestors, newest first, until visit returns false.
func (p *Packer) backward(ctx context.Context, src Source, n int64, visit func(r *record) bool) error {
	batch := firstBatch
	var rows []Row
	var below thread.CheckpointID // of the last row that was read
	var child *record
	for {
		// A group is unpacked from its first record on, so all of it must be read.
		for len(rows) == 0 || rows[0].Chain >= len(rows) {
			next := n
			if len(rows) > 0 {
				next = rows[len(rows)-1].Parent
			}
			if next == 0 && len(rows) > 0 {
				return errNoBeginning(rows[0])
			}
			more, err := src.Lineage(ctx, next, batch)
			if err != nil {
				if below != "" && errors.Is(err, thread.ErrNotFound) {
					return errNoParent(below)
				}
				return err
			}
			rows = append(rows, more...)
			below = rows[len(rows)-1].ID
			batch = min(2*batch, maxBatch)
		}
		if rows[0].Chain < 0 {
			return errNoBeginning(rows[0])
		}
		k := rows[0].Chain + 1
		raws, err := p.raws(rows[:k])
		if err != nil {
			return err
		}
		for i, row := range rows[:k] { // what is not visited need not be readable
			r, err := open(row, raws[i])
			if err != nil {
				return err
			}
			if child != nil && child.head.Checkpoint.Parent != r.row.ID {
				return fmt.Errorf("checkpoint %s: its parent is not %s: %w", child.row.ID, r.row.ID, thread.ErrDamaged)
			}
			child = r
			if !visit(r) {
				return nil
			}
		}
		n = rows[k-1].Parent
		rows = rows[k:]
		if n == 0 {
			if child.head.Checkpoint.Parent != "" {
				return errNoParent(below)
			}
			return nil
		}
	}
}

func errNoParent(id thread.CheckpointID) error {
	return fmt.Errorf("checkpoint %s: its parent is missing: %w", id, thread.ErrDamaged)
}

func errNoBeginning(row Row) error {
	return fmt.Errorf("checkpoint %s: its group has no beginning: %w", row.ID, thread.ErrDamaged)
}

// group unpacks a group given newest first and returns it oldest first. With a need, the others are left nil: a wrong
// byte in one shows in the hashes of the needed ones.
func (p *Packer) group(rows []Row, need func(Row) bool) ([]*record, error) {
	raws, err := p.raws(rows)
	if err != nil {
		return nil, err
	}
	out := make([]*record, len(rows))
	for i, row := range rows {
		if need == nil || need(row) {
			if out[len(rows)-1-i], err = open(row, raws[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// raws unpacks a group, newest first.
func (p *Packer) raws(rows []Row) ([][]byte, error) {
	size := 0
	pieces := make([][]byte, 0, len(rows))
	for i, row := range slices.Backward(rows) {
		if row.Chain != len(pieces) || row.Raw < 0 || row.Raw > maxRaw {
			return nil, fmt.Errorf("checkpoint %s: its group is broken: %w", rows[i].ID, thread.ErrDamaged)
		}
		pieces = append(pieces, row.Data)
		size += row.Raw
	}
	raw, err := p.codec.ungroup(pieces, size)
	if err == nil && len(raw) != size {
		err = fmt.Errorf("%d bytes instead of %d: %w", len(raw), size, thread.ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: its group: %w", rows[0].ID, err)
	}
	out := make([][]byte, len(rows))
	for i, row := range slices.Backward(rows) {
		out[i] = raw[:row.Raw:row.Raw]
		raw = raw[row.Raw:]
	}
	return out, nil
}

// Checkpoints unpacks rows. The rows' order is kept; those that share a group should follow each other, newest first.
// One that cannot be read is Damaged and has what its row says.
func (p *Packer) Checkpoints(ctx context.Context, src Source, rows []Row) ([]thread.Checkpoint, error) {
	done := map[int64]thread.Checkpoint{}
	asked := make(map[int64]bool, len(rows))
	for _, r := range rows {
		asked[r.N] = true
	}
	need := func(r Row) bool { return asked[r.N] }
	out := make([]thread.Checkpoint, 0, len(rows))
	for _, row := range rows {
		c, there := done[row.N]
		if !there {
			members := []Row{row}
			if row.Chain > 0 {
				var err error
				if members, err = src.Lineage(ctx, row.N, row.Chain+1); err != nil {
					return nil, err
				}
				if len(members) <= row.Chain { // what it began with is gone
					members = []Row{row}
				}
			}
			group, err := p.group(members, need)
			if errors.Is(err, thread.ErrDamaged) { // of another one, or of this one
				group, err = p.group(members, func(r Row) bool { return r.N == row.N })
			}
			if errors.Is(err, thread.ErrDamaged) {
				if c, err = p.unreadable(ctx, src, row); err != nil {
					return nil, err
				}
				out = append(out, c)
				continue
			}
			if err != nil {
				return nil, err
			}
			clear(done)
			for _, r := range group {
				if r != nil {
					done[r.row.N] = r.head.Checkpoint
				}
			}
			c = done[row.N]
		}
		out = append(out, c)
	}
	return out, nil
}

// Verify unpacks one row, whose ancestors are in src, and checks it against its hash and its parent.
func (p *Packer) Verify(ctx context.Context, src Source, row Row) (thread.Checkpoint, error) {
	members := []Row{row}
	if row.Parent != 0 {
		up, err := src.Lineage(ctx, row.Parent, max(1, row.Chain))
		if err != nil {
			return thread.Checkpoint{}, err
		}
		members = append(members, up...)
	}
	if row.Chain < 0 || row.Chain >= len(members) {
		return thread.Checkpoint{}, errNoBeginning(row)
	}
	group, err := p.group(members[:row.Chain+1], func(r Row) bool { return r.N == row.N })
	if err != nil {
		return thread.Checkpoint{}, err
	}
	c := group[row.Chain].head.Checkpoint
	parent := thread.CheckpointID("")
	if len(members) > 1 {
		parent = members[1].ID
	}
	if c.Parent != parent {
		return c, fmt.Errorf("checkpoint %s: its parent is not %q: %w", row.ID, parent, thread.ErrDamaged)
	}
	return c, nil
}

// Conversation returns all items up to row n, which has count of them.
func (p *Packer) Conversation(ctx context.Context, src Source, n int64, count int) ([]thread.Item, error) {
	return p.conversation(ctx, src, n, want{0, int64(count), 0}, count)
}

func (p *Packer) conversation(ctx context.Context, src Source, n int64, w want, count int) ([]thread.Item, error) {
	var out []thread.Item
	wants := []want{w}
	short := thread.CheckpointID("")
	err := p.backward(ctx, src, n, func(r *record) bool {
		if out == nil { // before, nobody knows whether it has so many
			if count < 0 || count > r.row.Items {
				short = r.row.ID
				return false
			}
			out = make([]thread.Item, count)
		}
		if len(wants) == 0 || wants[0].n == 0 {
			wants = nil
			return false
		}
		wires, raws := r.newItems()
		var bad bool
		wants, bad = resolve(wants, r.itemSpans(), func(own, n, dst int64) {
			for i := range n {
				out[dst+i] = thread.Item{Wire: wires[own+i], Raw: slices.Clone(raws[own+i])}
			}
		})
		if bad {
			short = r.row.ID
		}
		return !bad && len(wants) > 0
	})
	if err != nil {
		return nil, err
	}
	if short != "" || len(wants) > 0 {
		return nil, fmt.Errorf("checkpoint %s: its conversation has gaps: %w", short, thread.ErrDamaged)
	}
	return out, nil
}

// Marks returns the sizes and hashes of the native files as of a row, by name.
func (p *Packer) Marks(ctx context.Context, src Source, row Row) ([]thread.Mark, error) {
	st := p.cache.get(row.ID)
	if st == nil {
		var err error
		if st, err = p.load(ctx, src, row.N); err != nil {
			return nil, err
		}
	}
	out := make([]thread.Mark, 0, len(st.files))
	for name, f := range st.files {
		out = append(out, thread.Mark{File: name, Size: f.size, SHA256: hex.EncodeToString(f.sum[:])})
	}
	slices.SortFunc(out, func(a, b thread.Mark) int { return cmp.Compare(a.File, b.File) })
	return out, nil
}

// Transcript returns the native files as of a row, by name, each checked against its mark.
func (p *Packer) Transcript(ctx context.Context, src Source, row Row) ([]thread.TranscriptFile, error) {
	marks, err := p.Marks(ctx, src, row)
	if err != nil {
		return nil, err
	}
	return p.files(ctx, src, row.N, marks)
}

// file returns one file as of a row; an empty file needs no reading.
func (p *Packer) file(ctx context.Context, src Source, row Row, name string, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	marks, err := p.Marks(ctx, src, row)
	if err != nil {
		return nil, err
	}
	marks = slices.DeleteFunc(marks, func(m thread.Mark) bool { return m.File != name })
	files, err := p.files(ctx, src, row.N, marks)
	if err != nil || len(files) != 1 {
		return nil, err
	}
	return files[0].Data, nil
}

func (p *Packer) files(ctx context.Context, src Source, n int64, marks []thread.Mark) ([]thread.TranscriptFile, error) {
	out := make([]thread.TranscriptFile, len(marks))
	wants := map[string][]want{}
	index := map[string]int{}
	for i, m := range marks {
		if m.Size < 0 || m.Size > maxFile {
			return nil, fmt.Errorf("transcript file %q: %d bytes: %w", m.File, m.Size, thread.ErrDamaged)
		}
		out[i] = thread.TranscriptFile{File: m.File, Data: make([]byte, m.Size)}
		index[m.File] = i
		if m.Size > 0 {
			wants[m.File] = []want{{0, m.Size, 0}}
		}
	}
	var gap error
	visit := func(r *record) bool {
		for name, ws := range wants {
			spans, touched := r.fileSpans(name)
			if !touched {
				continue
			}
			data := out[index[name]].Data
			left, bad := resolve(ws, spans, func(own, n, dst int64) { copy(data[dst:dst+n], r.body[own:own+n]) })
			if bad {
				gap = fmt.Errorf("checkpoint %s: transcript file %q has gaps: %w", r.row.ID, name, thread.ErrDamaged)
				return false
			}
			if wants[name] = left; len(left) == 0 {
				delete(wants, name)
			}
		}
		return len(wants) > 0
	}
	if len(wants) > 0 {
		if err := p.backward(ctx, src, n, visit); err != nil {
			return nil, err
		}
	}
	if gap != nil {
		return nil, gap
	}
	for i, m := range marks {
		if s := sha256.Sum256(out[i].Data); hex.EncodeToString(s[:]) != m.SHA256 {
			return nil, fmt.Errorf("transcript file %q does not match its mark: %w", m.File, thread.ErrDamaged)
		}
	}
	return out, nil
}

// Delta returns what a row added to its parent. Files that were described in terms of their old content are returned as
// their new ends.
func (p *Packer) Delta(ctx context.Context, src Source, row Row) (thread.Delta, error) {
	var r *record
	err := p.backward(ctx, src, row.N, func(found *record) bool { r = found; return false })
	if err != nil {
		return thread.Delta{}, err
	}
	d := thread.Delta{Keep: r.head.Keep}
	if n := row.Items - r.head.Keep; n > 0 {
		if d.Items, err = p.conversation(ctx, src, row.N, want{int64(r.head.Keep), int64(n), 0}, n); err != nil {
			return thread.Delta{}, err
		}
	}
	at := int64(0)
	for _, e := range r.head.Items {
		at += int64(e.Len)
	}
	for _, f := range r.head.Files {
		c := thread.Chunk{File: f.Name, Offset: f.At}
		if len(f.Runs) == 0 {
			c.Data = slices.Clone(r.body[at : at+f.Len])
		} else {
			whole, err := p.file(ctx, src, row, f.Name, r.marks()[f.Name].size)
			if err != nil {
				return thread.Delta{}, err
			}
			if int64(len(whole)) < f.At {
				return thread.Delta{}, fmt.Errorf("checkpoint %s: transcript file %q is short: %w", row.ID, f.Name,
					thread.ErrDamaged)
			}
			c.Data = whole[f.At:]
		}
		at += f.Len
		for i := 0; i < len(f.Runs); i += 3 {
			at += f.Runs[i]
		}
		d.Transcript = append(d.Transcript, c)
	}
	return d, nil
}

// maxFile bounds the memory that a damaged mark can request.
const maxFile = 4 << 30

// load reads from the store what is not in the cache.
func (p *Packer) load(ctx context.Context, src Source, n int64) (*state, error) {
	st := &state{files: map[string]fileState{}}
	first := true
	err := p.backward(ctx, src, n, func(r *record) bool {
		if first {
			first = false
			st.items, st.age = r.head.Checkpoint.Items, r.head.Age
		}
		for name, f := range r.marks() {
			if _, known := st.files[name]; !known {
				st.files[name] = f
			}
		}
		return !r.head.Full
	})
	if err != nil {
		return nil, err
	}
	return st, nil
}
