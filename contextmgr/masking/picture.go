package masking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// entry is what is shown of a content. It holds nothing of the body.
type entry struct {
	Result        policy.Result
	Size          int64
	Error, Images bool
}

// picture is what fills a request, as far as it is shown to people. It is stored as it is.
type picture struct {
	Entries          []entry
	System, Messages int64
	Tools            map[string]int64 // by server, "" for the agent's own
	ToolsN           map[string]int
	Offered          []string // the names of all
	Items            int
}

// parts returns what fills the request, largest first.
func (p picture) parts() []thread.ContextPart {
	out := []thread.ContextPart{
		{Kind: "system", Tokens: p.System, Count: 1},
		{Kind: "messages", Tokens: p.Messages, Count: p.Items},
	}
	for server, n := range p.Tools {
		out = append(out, thread.ContextPart{Kind: "tools", Name: server, Tokens: n, Count: p.ToolsN[server]})
	}
	byTool := map[thread.ContextPart]thread.ContextPart{}
	for _, e := range p.Entries {
		key := thread.ContextPart{Kind: "results", Name: e.Result.Tool}
		if e.Result.Kind == policy.KindInput {
			key.Kind = "inputs"
		}
		part := cmp.Or(byTool[key], key)
		part.Tokens += e.Size
		part.Masked += e.Result.Tokens - e.Size
		part.Count++
		byTool[key] = part
	}
	for _, part := range byTool {
		out = append(out, part)
	}
	out = slices.DeleteFunc(out, func(p thread.ContextPart) bool { return p.Tokens == 0 && p.Masked == 0 })
	slices.SortFunc(out, func(a, b thread.ContextPart) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}

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
