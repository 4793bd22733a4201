package mcpctl_test

import (
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/mcpctl"
	"orchestrator/thread"
)

// TestLaunch gives each agent one server, names those that it must not start, and says where a repository's are not
// accepted.
func TestLaunch(t *testing.T) {
	r := newRig(t, func(r *rig, cfg *mcpctl.Config) {
		cfg.Bridge, cfg.Registered = []string{"/bin/orchestrator", "mcp-bridge", "/s"}, "orch1234"
		r.own(conf{"mine": r.fake("mine")})
		r.put(filepath.Join(r.home, ".codex", "config.toml"), []byte("[mcp_servers.mail]\ncommand = \"/bin/cat\"\n[mcp_servers.far]\nurl = \"https://mcp.example.com\"\n"))
		r.repository(conf{"repo": r.fake("repo")})
	})
	l := r.Launch(thread.Thread{ID: "t1"})
	if l.Name != "orch" || l.Registered != "orch1234" || !slices.Equal(l.Command, []string{"/bin/orchestrator", "mcp-bridge", "/s"}) {
		t.Errorf("%+v", l)
	}
	if got := l.Foreign["codex"]; len(got) != 2 || !slices.Contains(got, thread.MCPForeign{Name: "mail"}) || !slices.Contains(got, thread.MCPForeign{Name: "far", Remote: true}) {
		t.Errorf("of codex: %+v", got)
	}
	if got := l.Foreign["claude"]; !slices.Contains(got, thread.MCPForeign{Name: "repo"}) {
		t.Errorf("of claude: %+v", got)
	}
	if !l.Distrust["claude"] || l.Distrust["codex"] {
		t.Errorf("distrust: %v", l.Distrust)
	}
	r.approve("repo")
	if l := r.Launch(thread.Thread{ID: "t1"}); l.Distrust["claude"] {
		t.Error("what is accepted is distrusted")
	}
}
