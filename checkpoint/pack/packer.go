package pack

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Source gives a Packer the rows it asks for.
type Source interface {
	// Lineage returns row n and its ancestors with their data, newest first, at most limit. A row that is
	// not there is thread.ErrNotFound.
	Lineage(ctx context.Context, n int64, limit int) ([]Row, error)
}

// cacheBytes bounds what a Packer keeps of the newest checkpoints, many hundreds of threads' worth.
const cacheBytes = 8 << 20

// Packer packs and unpacks the checkpoints of one store. Its methods may be called from many goroutines.
type Packer struct {
	codec  *codec
	frames *frames
	cache  *cache
	opened openedThreads
}

// New returns a Packer.
func New() *Packer {
	p := &Packer{codec: newCodec(), frames: newFrames(), cache: newCache(cacheBytes)}
	p.opened.by = map[thread.ID]openedThread{}
	time.AfterFunc(openedFor, p.opened.drop)
	return p
}

// Known returns the number of a checkpoint's row where the Packer remembers it. The row may be gone since.
func (p *Packer) Known(id thread.CheckpointID) (n int64, ok bool) {
	if st := p.cache.get(id); st != nil {
		return st.row, true
	}
	return 0, false
}

// Forget drops what the Packer keeps in memory of checkpoints. A store calls it when rows were deleted, whose
// numbers may be given again.
func (p *Packer) Forget() { p.cache.clear() }
