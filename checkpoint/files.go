package checkpoint

import (
	"context"
	"fmt"

	"orchestrator/thread"
)

// Deltas is a store that can say what a checkpoint added to its parent. All of ours can; archives need it.
type Deltas interface {
	// Delta returns what makes the checkpoint from its parent: the items that it keeps and the new ones,
	// and for each native file that changed, where it changed and how it goes on.
	Delta(context.Context, thread.CheckpointID) (thread.Delta, error)
}

// Splice is how one chunk changes its file: the first From bytes stay, Data follows them.
type Splice struct {
	File string
	From int64
	Data []byte
}

// Splices checks chunks against the sizes of the files so far and returns what they change. Chunks of one
// file follow each other; sizes is not changed. A file that is not in sizes is empty.
func Splices(sizes map[string]int64, chunks []thread.Chunk) ([]Splice, error) {
	now := make(map[string]int64, len(chunks))
	out := make([]Splice, 0, len(chunks))
	for _, c := range chunks {
		size, known := now[c.File]
		if !known {
			size = sizes[c.File]
		}
		if c.Offset > size {
			return nil, fmt.Errorf("transcript file %q: chunk at %d after %d bytes: %w", c.File, c.Offset, size, thread.ErrInvalid)
		}
		now[c.File] = c.Offset + int64(len(c.Data))
		out = append(out, Splice{File: c.File, From: c.Offset, Data: c.Data})
	}
	return out, nil
}
