package masking

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

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
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Declarations []json.RawMessage `json:"functionDeclarations"`
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		for _, d := range t.Declarations {
			var named struct {
				Name string `json:"name"`
			}
			_ = json.Unmarshal(d, &named) // one without a name is counted all the same
			out = append(out, tool{named.Name, d})
		}
		if len(t.Declarations) == 0 {
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
	byTool := map[thread.ContextPart]*thread.ContextPart{}
	for _, e := range p.Entries {
		key := thread.ContextPart{Kind: "results", Name: e.Result.Tool}
		if e.Result.Kind == policy.KindInput {
			key.Kind = "inputs"
		}
		part := byTool[key]
		if part == nil {
			part = &thread.ContextPart{Kind: key.Kind, Name: key.Name}
			byTool[key] = part
		}
		part.Tokens += e.Size
		part.Masked += e.Result.Tokens - e.Size
		part.Count++
	}
	for _, part := range byTool {
		out = append(out, *part)
	}
	out = slices.DeleteFunc(out, func(p thread.ContextPart) bool { return p.Tokens == 0 && p.Masked == 0 })
	slices.SortFunc(out, func(a, b thread.ContextPart) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}
