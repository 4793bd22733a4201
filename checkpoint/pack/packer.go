package pack

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
)

// Source provides the rows that a Packer asks for.
type Source interface {
	// Lineage returns row n and its ancestors with their data, newest first, at most limit. A missing row is
	// thread.ErrNotFound.
	Lineage(ctx context.Context, n int64, limit int) ([]Row, error)
}

// Owners is a Source that knows whose rows it has.
type Owners interface {
	// Owner returns the thread with a number; thread.ErrNotFound if it was purged.
	Owner(ctx context.Context, n int64) (thread.ID, error)
}

// cacheBytes bounds what a Packer keeps of the newest checkpoints, enough for many hundreds of threads.
const cacheBytes = 8 << 20

// Packer packs and unpacks the checkpoints of one store. It is safe for concurrent use.
type Packer struct {
	codec  *codec
	frames *frames
	cache  *cache
	opened openedThreads
	broken broken
}

// New returns a Packer.
func New() *Packer { return newPacker(openFrames) }

// InOrder returns a Packer for a store that one caller fills, thread by thread. It keeps one group open and so takes
// little memory.
func InOrder() *Packer { return newPacker(1) }

func newPacker(groups int) *Packer {
	p := &Packer{codec: newCodec(), frames: newFrames(groups), cache: newCache(cacheBytes)}
	p.broken.rows = map[thread.CheckpointID]thread.Checkpoint{}
	p.opened.by = map[thread.ID]openedThread{}
	time.AfterFunc(openedFor, p.opened.drop)
	return p
}

// Known returns the number of a checkpoint's row if the Packer remembers it. The row may be gone since.
func (p *Packer) Known(id thread.CheckpointID) (n int64, ok bool) {
	if st := p.cache.get(id); st != nil {
		return st.row, true
	}
	return 0, false
}

// Forget drops what the Packer keeps in memory about checkpoints. A store calls it after deleting rows, whose numbers
// may be reused.
func (p *Packer) Forget() { p.cache.clear() }

// unreadable returns what a row tells of a checkpoint whose record cannot be read, and takes note of it. From then on
// no record joins a group that was open before: a group is unpacked from its first byte, and what followed the damage
// in it could not be read either.
func (p *Packer) unreadable(ctx context.Context, src Source, row Row) (thread.Checkpoint, error) {
	c := thread.Checkpoint{ID: row.ID, Seq: row.Seq, Turn: row.Turn, Kind: row.Kind, Items: row.Items, Damaged: true}
	if row.Parent != 0 {
		up, err := src.Lineage(ctx, row.Parent, 1)
		if err != nil && !errors.Is(err, thread.ErrNotFound) {
			return c, err
		}
		if len(up) > 0 {
			c.Parent = up[0].ID
		}
	}
	if known, ok := src.(Owners); ok {
		var err error
		if c.Thread, err = known.Owner(ctx, row.Thread); err != nil && !errors.Is(err, thread.ErrNotFound) {
			return c, err
		}
	}
	if p.broken.note(c) {
		p.frames.end()
		p.cache.clear()
	}
	return c, nil
}
