package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"orchestrator/agent/scripted"
)

// Shell is a call of the agent's shell tool.
func (t Turn) Shell(command string, escalate bool) scripted.Call {
	tool, ok := t.shell()
	if !ok {
		name := "Bash"
		switch t.Wire { // as agents know it
		case scripted.Gemini:
			name = "run_shell_command"
		case scripted.Chat:
			name = "bash"
		default:
		}
		return scripted.Call{Name: name, Args: map[string]any{"command": command}}
	}
	if tool.Free {
		args := map[string]any{"cmd": command}
		if escalate {
			args["sandbox_permissions"], args["justification"] = "require_escalated", "asked for by the script"
		}
		js := "text(await tools.exec_command(" + string(encode(args)) + "));"
		return scripted.Call{Name: tool.Name, Args: map[string]any{"": js}}
	}
	args := map[string]any{}
	if takes(tool, "cmd") && !takes(tool, "command") {
		args["cmd"] = command
	} else {
		args["command"] = command
	}
	if takes(tool, "description") {
		args["description"] = "run it"
	}
	if takes(tool, "is_background") {
		args["is_background"] = false
	}
	if escalate && takes(tool, "sandbox_permissions") {
		args["sandbox_permissions"] = "require_escalated"
		args["justification"] = "asked for by the script"
	}
	return scripted.Call{Name: tool.Name, Args: args}
}

// MCP returns a call of an MCP tool, named server__tool; false if the agent does not offer it. An agent that loads such
// tools only when they are searched for is told to search first.
func (t Turn) MCP(name string, args map[string]any) (scripted.Call, bool) {
	for _, tool := range t.Tools {
		if tool.Name == name || strings.HasSuffix(tool.Name, "_"+name) || tool.Namespace != "" && tool.Name == plain(name) {
			return scripted.Call{Name: tool.Name, Args: args, Namespace: tool.Namespace}, true
		}
	}
	search, ok := t.tool("ToolSearch")
	if !ok {
		return scripted.Call{}, false
	}
	full := "mcp__orch__" + name
	for _, o := range t.Outcomes {
		if o.Name == search.Name && !o.Failed && strings.Contains(fmt.Sprint(o.Args["query"]), full) {
			return scripted.Call{Name: full, Args: args}, true
		}
	}
	return scripted.Call{Name: search.Name, Args: map[string]any{"query": "select:" + full, "max_results": 5}}, true
}

// plain is a name as Codex shows it.
func plain(name string) string { return strings.ReplaceAll(name, "-", "_") }

// Write returns a call of the agent's tool for writing files, or of the shell if there is none.
func (t Turn) Write(path, text string) scripted.Call {
	tool, ok := t.tool("Write", "write_file", "write")
	if !ok {
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		return t.Shell(fmt.Sprintf("printf %%s %s > %s", quote(text), quote(path)), false)
	}
	key := "file_path"
	if takes(tool, "filePath") {
		key = "filePath"
	}
	if !strings.HasPrefix(path, "/") && t.Dir != "" {
		path = t.Dir + "/" + path
	}
	return scripted.Call{Name: tool.Name, Args: map[string]any{key: path, "content": text}}
}

// Read returns a call of the agent's tool for reading files, or of the shell if there is none.
func (t Turn) Read(path string) scripted.Call {
	tool, ok := t.tool("Read", "read_file", "read")
	if !ok {
		return t.Shell("cat '"+strings.ReplaceAll(path, "'", `'\''`)+"'", false)
	}
	for _, key := range []string{"filePath", "absolute_path"} {
		if takes(tool, key) {
			return scripted.Call{Name: tool.Name, Args: map[string]any{key: path}}
		}
	}
	return scripted.Call{Name: tool.Name, Args: map[string]any{"file_path": path}}
}

// takes reports whether a tool's schema has a parameter.
func takes(tool scripted.Tool, param string) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(tool.Params, &schema) != nil {
		return false
	}
	_, ok := schema.Properties[param]
	return ok
}

// encode returns v as JSON on one line; v is always made of plain values.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("model: " + err.Error()) // only maps, slices, strings and numbers are passed
	}
	return raw
}
