package masking

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/wire/span"
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

// tool is a tool that a request offers.
type tool struct {
	name string
	raw  json.RawMessage
}

// server returns the name of the MCP server that a tool is of, "" for the agent's own tools. Agents call such a tool
// mcp__server__tool or server__tool.
func (t tool) server() string {
	name, isMCP := strings.CutPrefix(t.name, "mcp__")
	server, _, ok := strings.Cut(name, "__")
	if isMCP || ok {
		return server
	}
	return ""
}

// listOf returns the list of tools in a request, which may be inside of an envelope.
func listOf(body []byte) (list json.RawMessage) {
	_ = span.New(body).Object(func(key string, c *span.Cursor) (err error) { // what cannot be read has no tools
		switch key {
		case "tools":
			list, err = c.Raw()
		case "request":
			var inside json.RawMessage
			if inside, err = c.Raw(); err == nil && list == nil {
				list = listOf(inside)
			}
		}
		return err
	})
	return list
}

// named is what has a name. Keys match whatever their case.
type named struct{ Name string }

// toolsOf reads the tools of a request in any of the formats: a list of objects with a name, perhaps below "function"
// or in "functionDeclarations".
func toolsOf(body []byte) []tool {
	list := listOf(body)
	var tools []json.RawMessage
	if json.Unmarshal(list, &tools) != nil {
		return nil
	}
	var out []tool
	for _, raw := range tools {
		var t struct {
			named
			Function             named
			FunctionDeclarations []json.RawMessage
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			var n named
			_ = json.Unmarshal(d, &n) // one without a name is counted all the same
			out = append(out, tool{n.Name, d})
		}
		if len(t.FunctionDeclarations) == 0 {
			out = append(out, tool{cmp.Or(t.Name, t.Function.Name), raw})
		}
	}
	return out
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
