package discovery_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
)

// TestFormats reads a server of every format with everything that it can have.
func TestFormats(t *testing.T) {
	type want = definition.Definition
	source := func(line int, agent string, scope definition.Scope) []definition.Source {
		return []definition.Source{{Line: line, Agent: agent, Scope: scope}}
	}
	for name, c := range map[string]struct {
		file, content string // $P is the project, $H the home folder
		want          []want
	}{
		"Claude, project": {"$P/.mcp.json", `{
  "mcpServers": {
    "playwright": {
      "command": "npx", "args": ["-y", "@playwright/mcp@0.0.41"], "env": {"K": "${K:-v}", "N": 1},
      "taskPatterns": ["e2e", "browser*", "!unit"], "timeout": 1500, "alwaysLoad": true,
      "x-orchestrator": {"share": "thread", "idleStop": "10m", "startTimeout": "30s", "callTimeout": "1m",
        "tools": {"allow": ["a"], "deny": ["b"]}, "stageChars": 20000, "description": "d", "tags": ["x", "y"]}},
    "docs": {"type": "streamable-http", "url": "https://a.example/mcp", "headers": {"X": "${T}"}, "headersHelper": "./h.sh",
      "oauth": {"clientId": "c", "callbackPort": 8123, "authServerMetadataUrl": "https://m", "scopes": "a b"}},
    "old": {"type": "sse", "url": "http://${HOST}/sse"}, "plain": {"url": "http://a"}
  }
}`, []want{
			{ID: "docs", Transport: definition.HTTP, URL: "https://a.example/mcp", Headers: map[string]string{"X": "${T}"},
				Helper: "./h.sh", Sources: source(8, "claude", definition.Project), Enabled: true,
				OAuth: definition.OAuth{ClientID: "c", CallbackPort: 8123, MetadataURL: "https://m", Scopes: []string{"a", "b"}}},
			{ID: "old", Transport: definition.SSE, URL: "http://${HOST}/sse", Sources: source(10, "claude", definition.Project),
				Enabled: true},
			{ID: "plain", Transport: definition.HTTP, URL: "http://a", Sources: source(10, "claude", definition.Project), Enabled: true},
			{ID: "playwright", Transport: definition.Stdio, Command: "npx", Args: []string{"-y", "@playwright/mcp@0.0.41"},
				Env: map[string]string{"K": "${K:-v}", "N": "1"}, Sources: source(3, "claude", definition.Project), Enabled: true,
				Patterns: []string{"e2e", "browser*", "!unit"}, Options: definition.Options{Share: definition.ByThread,
					IdleStop: 10 * time.Minute, StartTimeout: 30 * time.Second, CallTimeout: time.Minute, Allow: []string{"a"},
					Deny: []string{"b"}, StageChars: 20000, Description: "d", Tags: []string{"x", "y"}}},
		}},
		"Claude, person": {"$H/.claude.json", `{"numStartups": 3, "projects": {"/other": {"mcpServers": {"no": {"command": "x"}}},
"$P": {"mcpServers": {"here": {"command": "a"}, "off": {"command": "b"}},
"disabledMcpServers": ["off", "user-off"], "enabledMcpjsonServers": ["z"]}},
"mcpServers": {"everywhere": {"type": "stdio", "command": "c", "cwd": "sub"}, "user-off": {"command": "d"}}}`, []want{
			{ID: "everywhere", Transport: definition.Stdio, Command: "c", Dir: "$P/sub", Sources: source(4, "claude", definition.User),
				Enabled: true},
			{ID: "here", Transport: definition.Stdio, Command: "a", Sources: source(2, "claude", definition.Local), Enabled: true},
			{ID: "off", Transport: definition.Stdio, Command: "b", Sources: source(2, "claude", definition.Local)},
			{ID: "user-off", Transport: definition.Stdio, Command: "d", Sources: source(4, "claude", definition.User)},
		}},
		"Codex": {"$H/.codex/config.toml", `model = "x"
[mcp_servers.a]
command = "npx"
args = ["-y", "p@1"]
env = { K = "${not expanded}" }
env_vars = ["T", { name = "U", source = "local" }]
cwd = "/w"
startup_timeout_sec = 2.5
tool_timeout_sec = 60
enabled_tools = ["x"]
disabled_tools = ["y"]
required = true
enabled = false

[mcp_servers.a.tools.x]
approval_mode = "approve"

[mcp_servers."b c"]
url = "https://b.example"
bearer_token_env_var = "T"
http_headers = { A = "1" }
env_http_headers = { B = "V" }
scopes = ["s"]

[mcp_servers]
c = { command = "c" }
d.command = "d"
`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "npx", Args: []string{"-y", "p@1"}, Dir: "/w",
				Env: map[string]string{"K": "${not expanded}"}, EnvVars: []string{"T", "U"}, Sources: source(2, "codex", definition.User),
				Options: definition.Options{StartTimeout: 2500 * time.Millisecond, CallTimeout: time.Minute, Allow: []string{"x"},
					Deny: []string{"y"}}},
			{ID: "b_c", Name: "b c", Transport: definition.HTTP, URL: "https://b.example", BearerVar: "T",
				Headers: map[string]string{"A": "1"}, HeaderVars: map[string]string{"B": "V"}, Enabled: true,
				OAuth: definition.OAuth{Scopes: []string{"s"}}, Sources: source(18, "codex", definition.User)},
			{ID: "c", Transport: definition.Stdio, Command: "c", Sources: source(26, "codex", definition.User), Enabled: true},
			{ID: "d", Transport: definition.Stdio, Command: "d", Sources: source(27, "codex", definition.User), Enabled: true},
		}},
		"Codex, project": {"$P/.codex/config.toml", "mcp_servers.a.command = \"x\"\n", []want{
			{ID: "a", Transport: definition.Stdio, Command: "x", Sources: source(1, "codex", definition.Project), Enabled: true},
		}},
		"Gemini": {"$H/.gemini/settings.json", `{ // comment
"mcp": {"excluded": ["b"]},
"mcpServers": {
"a": {"command": "c", "args": ["$X"], "env": {"K": "%K%"}, "cwd": "./d", "timeout": 1000, "trust": true,
  "includeTools": ["x"], "excludeTools": ["y"],},
"b": {"url": "http://sse"}, "c": {"url": "http://no", "httpUrl": "http://yes", "headers": {"A": "b"}}, "d": {"httpUrl": "http://yes", "url": "http://no"},
"e": {"url": "http://a", "type": "http"}}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "c", Args: []string{"$X"}, Env: map[string]string{"K": "%K%"}, Dir: "$P/d",
				Sources: source(4, "gemini", definition.User), Enabled: true, Options: definition.Options{CallTimeout: time.Second,
					Allow: []string{"x"}, Deny: []string{"y"}}},
			{ID: "b", Transport: definition.SSE, URL: "http://sse", Sources: source(6, "gemini", definition.User)},
			{ID: "c", Transport: definition.HTTP, URL: "http://yes", Headers: map[string]string{"A": "b"},
				Sources: source(6, "gemini", definition.User), Enabled: true},
			{ID: "d", Transport: definition.HTTP, URL: "http://yes", Sources: source(6, "gemini", definition.User), Enabled: true},
			{ID: "e", Transport: definition.HTTP, URL: "http://a", Sources: source(7, "gemini", definition.User), Enabled: true},
		}},
		"Gemini, allowed": {"$P/.gemini/settings.json", `{"mcp": {"allowed": ["a"]}, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`,
			[]want{
				{ID: "a", Transport: definition.Stdio, Command: "x", Sources: source(1, "gemini", definition.Project), Enabled: true},
				{ID: "b", Transport: definition.Stdio, Command: "y", Sources: source(1, "gemini", definition.Project)},
			}},
		"Gemini, extension": {"$H/.gemini/extensions/e/gemini-extension.json",
			`{"name": "e", "mcpServers": {"x": {"command": "node", "args": ["${extensionPath}${/}s.js"], "cwd": "${extensionPath}"}}}`,
			[]want{{ID: "x", Transport: definition.Stdio, Command: "node", Args: []string{"$H/.gemini/extensions/e/s.js"},
				Dir: "$H/.gemini/extensions/e", Sources: source(1, "gemini", definition.User), Enabled: true}}},
		"OpenCode": {"$P/opencode.jsonc", `{"mcp": {
"a": {"type": "local", "command": ["node", "s.js"], "environment": {"K": "{env:K}"}, "enabled": false, "timeout": 5000},
"b": {"type": "remote", "url": "https://b", "headers": {"A": "{env:T}"}, "oauth": false}, /* and */
}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "node", Args: []string{"s.js"}, Env: map[string]string{"K": "{env:K}"},
				Sources: source(2, "opencode", definition.Project), Options: definition.Options{StartTimeout: 5 * time.Second}},
			{ID: "b", Transport: definition.HTTP, URL: "https://b", Headers: map[string]string{"A": "{env:T}"},
				Sources: source(3, "opencode", definition.Project), Enabled: true},
		}},
		"OpenCode, second version": {"$H/.config/opencode/opencode.json", `{"mcp": {"timeout": {}, "servers": {
"a": {"type": "local", "command": ["x"], "cwd": "/w", "disabled": true}}}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "x", Dir: "/w", Sources: source(2, "opencode", definition.User)},
		}},
		"OpenCode, a server of that name": {"$P/opencode.json", `{"mcp": {"servers": {"type": "local", "command": ["x"]}}}`, []want{
			{ID: "servers", Transport: definition.Stdio, Command: "x", Sources: source(1, "opencode", definition.Project), Enabled: true},
		}},
		"OpenCode, one more file": {"$H/extra.json", `{"mcp": {"a": {"type": "local", "command": ["x"]}}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "x", Sources: source(1, "opencode", definition.User), Enabled: true},
		}},
		"Cursor": {"$P/.cursor/mcp.json", `{"mcpServers": {"a": {"command": "x", "envFile": ".env", "type": "stdio"},
"b": {"url": "http://b"}, "c": {"command": "${workspaceFolder}/c", "envFile": "${workspaceFolder}/.env"}}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "x", EnvFile: "$P/.env", Sources: source(1, "cursor", definition.Project),
				Enabled: true},
			{ID: "b", Transport: definition.HTTP, URL: "http://b", Sources: source(2, "cursor", definition.Project), Enabled: true},
			{ID: "c", Transport: definition.Stdio, Command: "${workspaceFolder}/c", EnvFile: "${workspaceFolder}/.env",
				Sources: source(2, "cursor", definition.Project), Enabled: true},
		}},
		"VS Code": {"$P/.vscode/mcp.json", `{
// asked once
"inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}],
"servers": {"a": {"type": "stdio", "command": "x", "env": {"K": "${input:key}"}, "envFile": "${workspaceFolder}/.env", "dev": {}},
"b": {"type": "sse", "url": "http://b"}}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "x", Env: map[string]string{"K": "${input:key}"},
				EnvFile: "${workspaceFolder}/.env", Sources: source(4, "vscode", definition.Project), Enabled: true,
				Inputs: []definition.Input{{ID: "key", Description: "The key", Secret: true}}},
			{ID: "b", Transport: definition.SSE, URL: "http://b", Sources: source(5, "vscode", definition.Project), Enabled: true,
				Inputs: []definition.Input{{ID: "key", Description: "The key", Secret: true}}},
		}},
		"ours": {"$H/.config/orchestrator/mcp.json", `{"mcpServers": {"a": {"command": "x", "taskPatterns": ["p"]}}}`, []want{
			{ID: "a", Transport: definition.Stdio, Command: "x", Patterns: []string{"p"},
				Sources: source(1, "orchestrator", definition.User), Enabled: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			home, project := t.TempDir(), t.TempDir()
			fill := strings.NewReplacer("$P", project, "$H", home).Replace
			file := fill(c.file)
			write(t, file, fill(c.content))
			found := discovery.Places{Project: project, Home: home, OpenCodeConfig: filepath.Join(home, "extra.json")}.Definitions()
			for _, p := range found.Problems {
				t.Errorf("a problem: %s", p)
			}
			for i := range c.want {
				w := &c.want[i]
				w.Sources[0].File = file
				w.Dir, w.EnvFile = fill(w.Dir), fill(w.EnvFile)
				for k := range w.Args {
					w.Args[k] = strings.ReplaceAll(w.Args[k], "$H", home)
				}
				if w.Name == "" {
					w.Name = w.ID
				}
			}
			if diff := cmp.Diff(c.want, found.Definitions, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(definition.Definition{})); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
			if len(found.Hashes) != len(c.want) {
				t.Errorf("%d hashes for %d servers", len(found.Hashes), len(c.want))
			}
		})
	}
}
