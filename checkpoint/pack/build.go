package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// Packed is a checkpoint about to be inserted into a table.
type Packed struct {
	// Row lacks N, Thread, Seq and Sum, which the store sets: Sum is Seal(Plain, Seq).
	Row    Row
	Plain  [sha256.Size]byte
	parent thread.CheckpointID
	state  *state
	frame  *frame // nil if the record is a group by itself
}

// Pack packs a checkpoint that Check accepted, with what it adds to its parent, whose row has the given number; 0 for
// none. Done must be called for the result. A parent that cannot be read is no reason to refuse a checkpoint: one that
// has its whole conversation and whole files is complete, and so is what follows it.
func (p *Packer) Pack(
	ctx context.Context, src Source, parent int64, c thread.Checkpoint, d thread.Delta,
) (*Packed, error) {
	st := &state{}
	if parent != 0 {
		if st = p.cache.get(c.Parent); st == nil || st.row != parent {
			var err error
			st, err = p.load(ctx, src, parent)
			if errors.Is(err, thread.ErrDamaged) {
				st, err = p.unknown(ctx, src, parent)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if err := checkpoint.CheckKeep(c, d, st.items); err != nil {
		return nil, err
	}
	b := &builder{p: p, ctx: ctx, src: src, parent: Row{N: parent, ID: c.Parent}, from: st, files: st.clone()}
	if err := b.items(d); err != nil {
		return nil, err
	}
	if err := b.transcript(d.Transcript); err != nil {
		return nil, err
	}
	c = checkpoint.Normal(c)
	c.Seq, c.Items = 0, b.count
	b.head.Checkpoint = c
	b.marks()
	return b.finish()
}

// Done tells the Packer that a packed checkpoint was committed as row n, so that its child packs quickly and into the
// same group; 0 says that it was not, or that the outcome is unknown.
func (p *Packer) Done(k *Packed, n int64) {
	at := k.Row.ID
	if n == 0 {
		at = ""
	} else {
		k.state.row = n
		p.cache.put(at, k.parent, k.state)
	}
	if k.frame != nil {
		p.frames.leave(k.frame, at)
	}
}

// builder builds one record.
type builder struct {
	p      *Packer
	ctx    context.Context // lives for one call of Pack
	src    Source
	parent Row // its number and id
	from   *state

	head    head
	body    [][]byte // of the record, in pieces shared with others
	count   int
	keys    []itemKey
	files   map[string]fileState
	touched []string
}

// items adds the new items; those that the parent already has further on are added as runs.
func (b *builder) items(d thread.Delta) error {
	b.head.Keep = d.Keep
	b.count = d.Keep + len(d.Items)
	had, err := b.had(d)
	if err != nil {
		return err
	}
	if b.count <= maxKeys && (d.Keep == 0 || b.from.keys != nil) {
		b.keys = append(make([]itemKey, 0, b.count), b.from.keys[:d.Keep]...)
	}
	for _, it := range d.Items {
		var key itemKey
		if had != nil || b.keys != nil {
			key = keyOf(it)
		}
		if b.keys != nil {
			b.keys = append(b.keys, key)
		}
		if from, there := had[key]; there && len(it.Raw) >= diffMin {
			b.run(from)
			continue
		}
		b.head.Items = append(b.head.Items, itemEntry{Wire: it.Wire, Len: len(it.Raw)})
		b.body = append(b.body, it.Raw)
	}
	return nil
}

// run adds one item of the parent's conversation, to the previous run if it continues it.
func (b *builder) run(from int) {
	if k := len(b.head.Items) - 1; k >= 0 {
		if e := &b.head.Items[k]; e.Count > 0 && e.From+e.Count == from {
			e.Count++
			return
		}
	}
	b.head.Items = append(b.head.Items, itemEntry{From: from, Count: 1})
}

// had returns the positions of the items that the parent has and this checkpoint does not keep; nil for none. It reads
// them only if their keys are not in memory: an item that was repeated as a run again and again may have been added by
// a record far back. Of what cannot be read nothing is repeated: it is stored again.
func (b *builder) had(d thread.Delta) (map[itemKey]int, error) {
	if d.Keep >= b.from.items || len(d.Items) == 0 {
		return nil, nil
	}
	keys := b.from.keys
	if keys == nil {
		old, err := b.p.conversation(b.ctx, b.src, b.parent.N, want{0, int64(b.from.items), 0}, b.from.items)
		if errors.Is(err, thread.ErrDamaged) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		keys = make([]itemKey, len(old))
		for i, it := range old {
			keys[i] = keyOf(it)
		}
		from := *b.from
		from.keys, b.from = keys, &from
	}
	had := make(map[itemKey]int, len(keys)-d.Keep)
	for i, key := range keys[d.Keep:] {
		had[key] = d.Keep + i
	}
	return had, nil
}

// transcript adds the changes of chunks, one entry per file.
func (b *builder) transcript(chunks []thread.Chunk) error {
	sizes := make(map[string]int64, len(b.files))
	for name, f := range b.files {
		sizes[name] = f.size
	}
	splices, err := checkpoint.Splices(sizes, chunks)
	if err != nil {
		return err
	}
	byFile := map[string][]checkpoint.Splice{}
	for _, s := range splices {
		if byFile[s.File] == nil {
			b.touched = append(b.touched, s.File)
		}
		byFile[s.File] = append(byFile[s.File], s)
	}
	for _, name := range b.touched {
		if err := b.file(name, byFile[name]); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) file(name string, splices []checkpoint.Splice) error {
	was := b.files[name]
	appends, size := true, was.size
	for _, s := range splices {
		appends = appends && s.From == size
		size = s.From + int64(len(s.Data))
	}
	if h := was.next(); appends && h != nil {
		e := fileEntry{Name: name, At: was.size}
		for _, s := range splices {
			h.Write(s.Data)
			b.body = append(b.body, s.Data)
			e.Len += int64(len(s.Data))
		}
		b.head.Files = append(b.head.Files, e)
		b.files[name] = after(h, size)
		return nil
	}
	old, err := b.p.file(b.ctx, b.src, b.parent, name, was.size)
	if errors.Is(err, thread.ErrDamaged) && splices[0].From == 0 {
		old, err = nil, nil // nothing of it stays
	}
	if err != nil {
		return err
	}
	now := slices.Clone(old)
	for _, s := range splices {
		now = append(now[:s.From], s.Data...)
	}
	b.rewrite(name, old, now)
	return nil
}

// rewrite describes the new content of a file in terms of the old one.
func (b *builder) rewrite(name string, old, now []byte) {
	at := 0
	for at < len(old) && at < len(now) && old[at] == now[at] {
		at++
	}
	e := fileEntry{Name: name, At: int64(at)}
	if at == len(old) || at == len(now) {
		e.Len = int64(len(now) - at)
		b.body = append(b.body, now[at:])
	} else {
		var lit []byte
		e.Runs, lit = diff(old, now[at:])
		b.body = append(b.body, lit)
	}
	b.head.Files = append(b.head.Files, e)
	h := sha256.New()
	h.Write(now)
	b.files[name] = after(h, int64(len(now)))
}

// marks adds the marks of what changed, or of all files if they are few or have not been written for long.
func (b *builder) marks() {
	b.head.Age = b.from.age + 1
	names := b.touched
	if b.from.lost || len(b.files) <= max(4, len(names)) || b.head.Age >= max(16, len(b.files)) {
		b.head.Full, b.head.Age = true, 0
		names = slices.Sorted(maps.Keys(b.files))
	}
	for _, n := range names {
		f := b.files[n]
		b.head.Marks = append(b.head.Marks, markEntry{Name: n, Size: f.size, Hash: hex.EncodeToString(f.sum[:])})
	}
}

func (b *builder) finish() (*Packed, error) {
	c := b.head.Checkpoint
	raw, err := join(b.head, b.body...)
	if err != nil {
		return nil, err
	}
	size := raw.size()
	if size > maxRaw {
		return nil, thread.Kindf(thread.ErrInvalid, "checkpoint %s has %d bytes, the limit is %d", c.ID, size, maxRaw)
	}
	k := &Packed{parent: c.Parent, Plain: raw.sum(),
		Row:   Row{ID: c.ID, Parent: b.parent.N, Turn: c.Turn, Kind: c.Kind, Items: c.Items, Raw: size},
		state: &state{items: c.Items, keys: b.keys, files: b.files, age: b.head.Age}}
	compress := b.p.frames.alone
	if size < groupLimit {
		if k.frame, err = b.p.frames.take(c.Parent); err != nil {
			return nil, err
		}
	}
	if k.frame != nil {
		k.Row.Chain = k.frame.records
		compress = k.frame.add
	}
	if k.Row.Data, err = compress(raw); err != nil {
		b.p.Done(k, 0)
		return nil, err
	}
	return k, nil
}

// unknown returns the state of a parent whose record cannot be read: how many items it had, and nothing of its files.
func (p *Packer) unknown(ctx context.Context, src Source, n int64) (*state, error) {
	rows, err := src.Lineage(ctx, n, 1)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("checkpoint row %d: %w", n, thread.ErrNotFound)
	}
	if _, err := p.unreadable(ctx, src, rows[0]); err != nil {
		return nil, err
	}
	return &state{items: max(0, rows[0].Items), files: map[string]fileState{}, lost: true}, nil
}
