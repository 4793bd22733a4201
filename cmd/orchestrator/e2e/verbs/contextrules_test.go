package verbs

import (
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestContextRules: the rules by tool that are in force are shown, those of a project once it is trusted.
func TestContextRules(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "masking_keep = \"Read\"\n[masking_tools.Bash]\nkeep_last = 10\nmin_tokens = 1500\n")
	r.Write(".orchestrator.toml", "[masking_tools.\"mcp__\\u001b*\"]\nkeep = true\n")
	name := r.Ok("new", "-a", "demo", "ruled")
	mine := "Rules:    Read keeps all\n          Bash keeps the newest 10, below 1.5k tokens"
	if out := r.Ok("context", "policy", name); !strings.Contains(out, "Mode:     safe, as configured\n"+mine) || strings.Contains(out, "mcp__") {
		t.Errorf("before the project is trusted:\n%s", out)
	}
	r.Ok("stop", "--force")
	r.Ok("trust", "--yes")
	out := r.Ok("context", "show", name)
	if !strings.Contains(out, mine+"\n          mcp__") || !strings.Contains(out, "* keeps all\n") || strings.ContainsRune(out, '\x1b') {
		t.Errorf("after that:\n%q", out)
	}
	if got := e2e.Get[thread.ContextReport](r, "context", "policy", name); len(got.Rules) != 3 || got.Rules[1] != (thread.ContextRule{Tool: "Bash", MinTokens: 1500, KeepLast: 10}) {
		t.Errorf("%+v", got.Rules)
	}
}
