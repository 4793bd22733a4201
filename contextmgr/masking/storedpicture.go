package masking

import (
	"encoding/json"
	"fmt"
	"time"

	"orchestrator/thread"
)

// Pictures keeps what fills a thread's context beyond the life of this process.
type Pictures interface {
	Keep(id thread.ID, picture []byte) error
	// Last returns what was kept last, nil if there is nothing.
	Last(id thread.ID) ([]byte, error)
	Drop(id thread.ID) error
}

// stored is what is kept of the last main request that ended a turn, or that was not sent. It has no content of the
// conversation but names of tools and files.
type stored struct {
	At                     time.Time
	Model                  string
	Window, Tokens, Masked int64
	Counted                count // of the last one that was answered
	picture
}

// readStored reads what was kept of a thread, nil if there is nothing.
func readStored(p Pictures, id thread.ID) (*stored, error) {
	kept, err := p.Last(id)
	if err != nil || kept == nil {
		return nil, err
	}
	var s stored
	if err := json.Unmarshal(kept, &s); err != nil {
		return nil, fmt.Errorf("read what filled the context: %w", err)
	}
	return &s, nil
}
