package discovery_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/mcpctl/discovery"
	"orchestrator/thread"
)

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	write(t, filepath.Join(project, ".mcp.json"),
		`{"mcpServers":{"github":{"command":"npx","args":["-y","gh","--token","SECRET1"],"env":{"K":"SECRET2"}}}}`)
	write(t, filepath.Join(home, ".claude.json"),
		`{"mcpServers":{"docs":{"type":"http","url":"https://u:SECRET3@docs.example/mcp?key=SECRET4"}},
		"projects":{`+quote(project)+`:{"mcpServers":{"here":{"command":"tool"}}},
		"/elsewhere":{"mcpServers":{"not":{"command":"x"}}}}}`)
	write(t, filepath.Join(home, ".codex", "config.toml"), "[mcp_servers.db]\ncommand = \"pg\"\nenabled = false\n")
	write(t, filepath.Join(home, ".gemini", "settings.json"), `{"mcpServers":{"web":{"httpUrl":"http://127.0.0.1:9/x"}}}`)
	write(t, filepath.Join(home, ".config", "opencode", "opencode.json"),
		`{"mcp":{"files":{"type":"local","command":["node","s.js","SECRET5"]},"odd":{"type":"local"}}}`)

	got := discovery.Places{Project: project, Home: home}.Find()
	want := map[string]thread.MCPServer{
		"github": {Agent: "claude", Transport: "stdio", Target: "npx", Enabled: true},
		"docs":   {Agent: "claude", Transport: "http", Target: "https://docs.example/mcp", Trusted: true, Enabled: true},
		"here":   {Agent: "claude", Transport: "stdio", Target: "tool", Trusted: true, Enabled: true},
		"db":     {Agent: "codex", Transport: "stdio", Target: "pg", Trusted: true},
		"web":    {Agent: "gemini", Transport: "http", Target: "http://127.0.0.1:9/x", Trusted: true, Enabled: true},
		"files":  {Agent: "opencode", Transport: "stdio", Target: "node", Trusted: true, Enabled: true},
		"odd":    {Agent: "opencode", Transport: "stdio", Trusted: true, Enabled: true, Problem: "has no command"},
	}
	if len(got) != len(want) {
		t.Errorf("found %d servers, want %d: %+v", len(got), len(want), got)
	}
	for _, s := range got {
		w := want[s.Name]
		w.Name, w.Source = s.Name, s.Source
		if s != w {
			t.Errorf("%s:\n got %+v\nwant %+v", s.Name, s, w)
		}
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "SECRET") {
		t.Errorf("a secret came out: %s", b)
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestUnreadable(t *testing.T) {
	tests := map[string]string{
		"cut off":    `{"mcpServers":{"a":`,
		"wrong type": `{"mcpServers":[1]}`,
		"not JSON":   "\x00\xff",
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			write(t, filepath.Join(project, ".mcp.json"), content)
			got := discovery.Places{Project: project, Home: t.TempDir()}.Find()
			if len(got) != 1 || got[0].Problem == "" || got[0].Agent != "claude" || got[0].Trusted {
				t.Errorf("got %+v, want one row with its problem", got)
			}
		})
	}
}
