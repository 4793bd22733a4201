package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

const (
	maxTools = 2000
	maxTool  = 256 << 10
	maxDepth = 64
	maxName  = 256
)

// Tools checks the tools of a server. They are ordered by name. Problems say what is missing from the list.
func Tools(raw []json.RawMessage) (tools []Tool, problems []string) {
	for _, r := range raw[:min(len(raw), maxTools)] {
		tools = append(tools, check(r))
	}
	if n := len(raw) - maxTools; n > 0 {
		problems = append(problems, fmt.Sprintf("%d more tools are withheld: only the first %d of a server are listed",
			n, maxTools))
	}
	seen := make(map[string]bool, len(tools))
	for i := range tools {
		t := &tools[i]
		if t.Name != "" && seen[t.Name] && t.Problem == "" {
			t.Problem = "the server lists another tool of this name before it"
		}
		seen[t.Name] = true
	}
	slices.SortStableFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools, problems
}

// recheck checks tools that were stored: what was withheld stays so.
func recheck(stored []Tool) []Tool {
	var tools []Tool
	for _, t := range stored[:min(len(stored), maxTools)] {
		if t.Problem == "" {
			t = check(t.Raw)
		}
		tools = append(tools, t)
	}
	return tools
}

// check reads one tool and says whether it has to be withheld.
func check(raw json.RawMessage) Tool {
	if len(raw) > maxTool {
		return Tool{Name: nameOf(raw), Problem: fmt.Sprintf("its definition has %d bytes, more than %d", len(raw), maxTool)}
	}
	if d := depth(raw); d > maxDepth {
		return Tool{Name: nameOf(raw), Problem: fmt.Sprintf("its definition is nested %d deep, more than %d", d, maxDepth)}
	}
	var t struct {
		Name      *string         `json:"name"`
		Schema    json.RawMessage `json:"inputSchema"`
		Execution struct {
			TaskSupport string `json:"taskSupport"`
		} `json:"execution"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return Tool{Name: nameOf(raw), Raw: raw, Problem: "its definition is malformed: " + err.Error()}
	}
	if t.Name == nil || *t.Name == "" {
		return Tool{Raw: raw, Problem: "it has no name"}
	}
	tool := Tool{Name: *t.Name, Raw: raw}
	switch schema := bytes.TrimSpace(t.Schema); {
	case len(tool.Name) > maxName:
		tool.Name = tool.Name[:maxName]
		tool.Problem = fmt.Sprintf("its name is longer than %d bytes", maxName)
	case len(schema) == 0:
		tool.Problem = "it has no inputSchema"
	case schema[0] != '{':
		tool.Problem = "its inputSchema is not an object"
	case t.Execution.TaskSupport == "required":
		tool.Problem = "it can only be called as a task"
	}
	return tool
}

// nameOf returns the name of a tool that is not otherwise understood, cut to the longest that is kept.
func nameOf(raw json.RawMessage) string {
	var t struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	return t.Name[:min(len(t.Name), maxName)]
}

// depth returns how deep a JSON text is nested.
func depth(raw []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}', c == ']':
			now--
		}
	}
	return deepest
}

// Entries checks entries of a list that are no tools, such as prompts. They are ordered by the string under key, which
// names one of them. Problems say what is left out.
func Entries(raw []json.RawMessage, what, key string) (kept []json.RawMessage, problems []string) {
	type entry struct {
		name string
		raw  json.RawMessage
	}
	var all []entry
	seen := make(map[string]bool)
	left := 0
	for _, r := range raw {
		var fields map[string]json.RawMessage
		var name string
		if len(r) > maxTool || depth(r) > maxDepth || json.Unmarshal(r, &fields) != nil ||
			json.Unmarshal(fields[key], &name) != nil || name == "" || seen[name] || len(all) == maxTools {
			left++
			continue
		}
		seen[name] = true
		all = append(all, entry{name, r})
	}
	if left > 0 {
		problems = append(problems, fmt.Sprintf("%d %s are left out: malformed, too large, of the name of another one, or more than %d",
			left, what, maxTools))
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for _, e := range all {
		kept = append(kept, e.raw)
	}
	return kept, problems
}
