package checkpoint

import (
	"context"
	"fmt"

	"orchestrator/thread"
)

// Deltas is a store that can return what a checkpoint added to its parent. All of ours can; archives need it.
type Deltas interface {
	// Delta returns the difference of the checkpoint from its parent: the items that it keeps and the new ones, and for
	// each native file that changed, where it changed and how it continues.
	Delta(context.Context, thread.CheckpointID) (thread.Delta, error)
}

// Splice is the change of a file by one chunk: the first From bytes stay, followed by Data.
type Splice struct {
	File string
	From int64
	Data []byte
}

// Splices checks chunks against the current sizes of the files and returns the changes. Chunks of one file follow each
// other; sizes is not modified. A file that is not in sizes is empty.
func Splices(sizes map[string]int64, chunks []thread.Chunk) ([]Splice, error) {
	now := make(map[string]int64, len(chunks))
	out := make([]Splice, 0, len(chunks))
	for _, c := range chunks {
		size, known := now[c.File]
		if !known {
			size = sizes[c.File]
		}
		if c.Offset > size {
			return nil, fmt.Errorf("transcript file %q: chunk at %d after %d bytes: %w", c.File, c.Offset, size,
				thread.ErrInvalid)
		}
		now[c.File] = c.Offset + int64(len(c.Data))
		out = append(out, Splice{File: c.File, From: c.Offset, Data: c.Data})
	}
	return out, nil
}
