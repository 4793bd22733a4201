package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"orchestrator/contextmgr/wire/span"
	"orchestrator/thread"
)

// Tool is a tool that a request offers. Raw is a part of the request.
type Tool struct {
	Name string
	Raw  json.RawMessage
}

// Server returns the name of the MCP server that a tool is of, "" for the agent's own tools. Agents call such a tool
// mcp__server__tool, mcp_server_tool or server__tool. Where the server is the one that gives agents the tools of all
// others, it is the other one.
func (t Tool) Server() string {
	name, isMCP := strings.CutPrefix(t.Name, "mcp_")
	if isMCP {
		name = strings.TrimPrefix(name, "_")
	}
	if inner, ok := bridged(name); ok {
		if server, _, ok := strings.Cut(inner, "__"); ok {
			return server
		}
		return thread.MCPName
	}
	server, _, ok := strings.Cut(name, "__")
	if !ok && isMCP && !strings.HasPrefix(t.Name, "mcp__") {
		server, _, ok = strings.Cut(name, "_")
	}
	if ok || isMCP {
		return server
	}
	return ""
}

// bridged returns what follows the name of our own server, which agents may know by a longer one.
func bridged(name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, thread.MCPName)
	rest = strings.TrimLeft(rest, "0123456789abcdef")
	if !ok || rest == "" {
		return "", ok
	}
	inner := strings.TrimLeft(rest, "_")
	return inner, len(inner) < len(rest)
}

// ToolList returns the list of tools in a request in any of the formats, which may be inside of an envelope; nil if it has
// none or cannot be read.
func ToolList(body []byte) (list json.RawMessage) {
	_ = span.New(body).Object(func(key string, c *span.Cursor) (err error) { // what cannot be read has no tools
		switch key {
		case "tools":
			list, err = c.Raw()
		case "request":
			var inside json.RawMessage
			if inside, err = c.Raw(); err == nil && list == nil {
				list = ToolList(inside)
			}
		}
		return err
	})
	return list
}

// named is what has a name. Keys match whatever their case.
type named struct{ Name string }

// Tools reads a list of tools in any of the formats: objects with a name, perhaps below "function" or in
// "functionDeclarations".
func Tools(list json.RawMessage) []Tool {
	var tools []json.RawMessage
	if json.Unmarshal(list, &tools) != nil {
		return nil
	}
	var out []Tool
	for _, raw := range tools {
		var t struct {
			named
			Type                 string
			Function             named
			FunctionDeclarations []json.RawMessage
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			var n named
			_ = json.Unmarshal(d, &n) // one without a name is counted all the same
			out = append(out, Tool{n.Name, d})
		}
		if len(t.FunctionDeclarations) == 0 {
			out = append(out, Tool{cmp.Or(t.Name, t.Function.Name, t.Type), raw})
		}
	}
	return out
}
