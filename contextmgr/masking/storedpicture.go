package masking

import (
	"encoding/json"
	"fmt"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// Pictures keeps what fills a thread's context beyond the life of this process.
type Pictures interface {
	Keep(id thread.ID, picture []byte) error
	// Last returns what was kept last, nil if there is nothing.
	Last(id thread.ID) ([]byte, error)
	Drop(id thread.ID) error
}

// last is what is kept of the last main request that ended a turn, or that was not sent. It has no content of the
// conversation but names of tools and files.
type last struct {
	At                     time.Time
	Model                  string
	Window, Tokens, Masked int64
	Counted                counted // of the last one that was answered

	Entries          []lastEntry
	System, Messages int64
	Tools            map[string]int64
	ToolsN           map[string]int
	Offered          []string
	Items            int
}

// counted is what the provider counted for a main request, what was estimated for the same request, and how many items
// it had.
type counted struct {
	Input, Estimate int64
	Items           int
}

type lastEntry struct {
	Result        policy.Result
	Size          int64
	Error, Images bool
}

// picture returns it as people see it.
func (l last) picture() picture {
	p := picture{system: l.System, messages: l.Messages, tools: l.Tools, toolsN: l.ToolsN, offered: l.Offered, items: l.Items}
	for _, e := range l.Entries {
		p.entries = append(p.entries, entry{e.Result, e.Size, e.Error, e.Images})
	}
	return p
}

// readLast reads what was kept of a thread, nil if there is nothing.
func readLast(p Pictures, id thread.ID) (*last, error) {
	kept, err := p.Last(id)
	if err != nil || kept == nil {
		return nil, err
	}
	var l last
	if err := json.Unmarshal(kept, &l); err != nil {
		return nil, fmt.Errorf("read what filled the context: %w", err)
	}
	return &l, nil
}
