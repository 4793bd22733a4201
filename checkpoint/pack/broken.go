package pack

import (
	"sync"

	"orchestrator/thread"
)

// broken are the checkpoints that could not be read.
type broken struct {
	mu   sync.Mutex
	rows map[thread.CheckpointID]thread.Checkpoint
}

// note returns false if it was noted before.
func (b *broken) note(c thread.Checkpoint) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, known := b.rows[c.ID]
	b.rows[c.ID] = c
	return !known
}
