package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orchestrator/agent/scripted"
	"orchestrator/thread/pattern"
)

// remotePrefix begins the names of tools of MCP servers; the name of the one server that the agent was given follows.
const remotePrefix = "mcp__"

// tooling matches a question for the tools.
var tooling = pattern.Lazy(`(?i)^\s*(?:which|what|list|show)\b[^.:]*\btools\b`)

// remotes returns the tools of MCP servers among those that are offered.
func remotes(offered []scripted.Tool) []scripted.Tool {
	var out []scripted.Tool
	for _, t := range offered {
		if strings.HasPrefix(t.Name, remotePrefix) {
			out = append(out, t)
		}
	}
	return out
}

// shown returns a tool's name as people write it: without the server through which it is reached.
func shown(name string) string {
	rest, remote := strings.CutPrefix(name, remotePrefix)
	if _, tool, ok := strings.Cut(rest, "__"); remote && ok {
		return tool
	}
	return name
}

// toolbox answers which tools there are.
func toolbox(offered []scripted.Tool) string {
	var own, remote []string
	for _, t := range offered {
		if strings.HasPrefix(t.Name, remotePrefix) {
			remote = append(remote, "- `"+shown(t.Name)+"`")
		} else {
			own = append(own, "`"+t.Name+"`")
		}
	}
	text := fmt.Sprintf("I have %s of my own: %s.", things(len(own), "tool"), strings.Join(own, ", "))
	if len(remote) == 0 {
		return text + " There are none of MCP servers."
	}
	slices.Sort(remote)
	return text + fmt.Sprintf(" And %s of MCP servers:\n\n%s", things(len(remote), "tool"), strings.Join(remote, "\n"))
}

// remote is the step that calls a tool of an MCP server. The name may be given without its server; what has no name of
// a tool is not understood. with are the arguments: a JSON object, key=value pairs, or the one text that the tool needs.
func remote(name, with string, offered []scripted.Tool) (step, bool) {
	var found []scripted.Tool
	for _, t := range remotes(offered) {
		full := shown(t.Name)
		_, short, _ := strings.Cut(full, "__")
		switch name {
		case t.Name, full:
			found = []scripted.Tool{t}
		case short:
			found = append(found, t)
			continue
		default:
			continue
		}
		break
	}
	switch {
	case len(found) == 0 && strings.Contains(name, "__"):
		return step{say: fmt.Sprintf("I have no tool `%s`. %s", name, toolbox(offered))}, true
	case len(found) == 0:
		return step{}, false
	case len(found) > 1:
		return step{say: fmt.Sprintf("Several servers have a tool `%s`: call one by its whole name.", name)}, true
	}
	args, problem := arguments(found[0], strings.TrimSpace(with))
	if problem != "" {
		return step{say: problem}, true
	}
	return step{call: &scripted.Call{Name: found[0].Name, Args: args}}, true
}

// arguments reads a tool's arguments from words.
func arguments(t scripted.Tool, with string) (args map[string]any, problem string) {
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(t.Params, &schema) // a schema that cannot be read names nothing
	typed := func(key, value string) any {
		switch schema.Properties[key].Type {
		case "number", "integer":
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				return n
			}
		case "boolean":
			if b, err := strconv.ParseBool(value); err == nil {
				return b
			}
		case "array", "object":
			var v any
			if json.Unmarshal([]byte(value), &v) == nil {
				return v
			}
		}
		return value
	}
	if with == "" {
		return map[string]any{}, ""
	}
	if strings.HasPrefix(with, "{") && json.Unmarshal([]byte(with), &args) == nil {
		return args, ""
	}
	args = map[string]any{}
	for _, pair := range strings.Fields(with) {
		key, value, ok := strings.Cut(pair, "=")
		if _, known := schema.Properties[key]; !ok || !known {
			args = nil
			break
		}
		args[key] = typed(key, value)
	}
	if args != nil {
		return args, ""
	}
	names := schema.Required
	if len(names) == 0 {
		for key := range schema.Properties {
			names = append(names, key)
		}
	}
	if len(names) == 1 {
		return map[string]any{names[0]: typed(names[0], with)}, ""
	}
	slices.Sort(names)
	return nil, fmt.Sprintf("`%s` takes %s: call it with key=value pairs or a JSON object.", shown(t.Name), strings.Join(names, ", "))
}
