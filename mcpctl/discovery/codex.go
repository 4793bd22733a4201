package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"orchestrator/mcpctl/jsonc"
)

// maxOpeners is how many brackets a TOML file may open: its parser recurses for each.
const maxOpeners = 100_000

// readCodex reads the [mcp_servers.name] tables.
func readCodex(r *reader, content []byte) {
	if bytes.Count(content, []byte("["))+bytes.Count(content, []byte("{")) > maxOpeners {
		r.problems.add(0, "", "more than %d tables and lists", maxOpeners)
		return
	}
	var tree struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	err := toml.Unmarshal(content, &tree)
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, _ := syntax.Position()
		r.problems.add(line, "", "%s", syntax.Error())
		return
	}
	if err != nil { // a table that is there twice has no position
		_, twice := tableLines(content)
		r.problems.add(twice, "", "%s", err)
		return
	}
	text, err := json.Marshal(tree.Servers)
	if err != nil {
		r.problems.add(0, "", "mcp_servers: %s", err)
		return
	}
	v, err := jsonc.Parse(text)
	if err != nil || v.Kind != jsonc.Object {
		return
	}
	before := len(r.problems.list)
	first := len(r.drafts)
	r.servers(v, r.scope, setCodex)
	// The lines are those of the converted text, which is one line: replace them by those of the tables.
	lines, _ := tableLines(content)
	for _, d := range r.drafts[first:] {
		d.line = lines[d.Name]
		d.Sources[0].Line = d.line
	}
	for i := range r.problems.list[before:] {
		p := &r.problems.list[before+i]
		p.Line = lines[p.Server]
	}
}

// tableLines returns the line in which each table of mcp_servers begins, and that of the first table that is there
// twice.
func tableLines(content []byte) (lines map[string]int, twice int) {
	lines = make(map[string]int)
	seen := make(map[string]bool)
	line, counted := 1, 0
	var p unstable.Parser
	p.Reset(content)
	var table []string
	for p.NextExpression() {
		node := p.Expression()
		key, at := keyOf(node)
		repeated := false
		if node.Kind == unstable.Table || node.Kind == unstable.ArrayTable {
			table = key
			name := strings.Join(key, "\x00")
			repeated = node.Kind == unstable.Table && seen[name]
			seen[name] = true
		} else if node.Kind == unstable.KeyValue {
			key = append(table[:len(table):len(table)], key...)
		}
		if at < counted || at > len(content) {
			continue
		}
		line += bytes.Count(content[counted:at], []byte("\n"))
		counted = at
		if repeated && twice == 0 {
			twice = line
		}
		if len(key) >= 2 && key[0] == "mcp_servers" && lines[key[1]] == 0 {
			lines[key[1]] = line
		}
	}
	return lines, twice
}

// keyOf returns the parts of a key and where it begins.
func keyOf(node *unstable.Node) (parts []string, at int) {
	switch node.Kind {
	case unstable.Table, unstable.ArrayTable, unstable.KeyValue:
	default:
		return nil, 0
	}
	for it := node.Key(); it.Next(); {
		if len(parts) == 0 {
			at = int(it.Node().Raw.Offset)
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts, at
}

// setCodex knows Codex' settings.
func setCodex(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "env_vars":
		return envVars(d, v), true
	case "cwd":
		return text(&d.Dir, v), true
	case "bearer_token_env_var":
		return text(&d.BearerVar, v), true
	case "bearer_token":
		return "given by bearer_token_env_var", true
	case "http_headers":
		return pairs(&d.Headers, v), true
	case "env_http_headers":
		return pairs(&d.HeaderVars, v), true
	case "scopes":
		return list(&d.OAuth.Scopes, v), true
	case "startup_timeout_sec":
		return number(&d.Options.StartTimeout, time.Second, v), true
	case "startup_timeout_ms":
		return number(&d.Options.StartTimeout, time.Millisecond, v), true
	case "tool_timeout_sec":
		return number(&d.Options.CallTimeout, time.Second, v), true
	case "enabled_tools":
		return list(&d.Options.Allow, v), true
	case "disabled_tools":
		return list(&d.Options.Deny, v), true
	case "required", "oauth_resource", "supports_parallel_tool_calls", "tools", "default_tools_approval_mode":
		return "", true
	case "type", "transport", "disabled", "description", "headers":
		return "", false
	}
	return setCommon(d, key, v)
}

// envVars takes names, also in the form {name = "X"}.
func envVars(d *draft, v jsonc.Value) string {
	const must = "a list of names"
	if v.Kind != jsonc.Array {
		return must
	}
	d.EnvVars = nil
	for _, item := range v.Items() {
		if item.Kind == jsonc.Object {
			item, _ = item.Member("name")
		}
		name, _ := item.Text()
		if item.Kind != jsonc.String || name == "" {
			return must
		}
		d.EnvVars = append(d.EnvVars, name)
	}
	return ""
}
