package agents

import (
	"testing"

	"orchestrator/checkpoint/branch"
	"orchestrator/contextmgr/wire"
	"orchestrator/contextmgr/wire/anthropic"
	"orchestrator/contextmgr/wire/gemini"
	"orchestrator/contextmgr/wire/openai"
	"orchestrator/mcpctl"
	mcpgateway "orchestrator/mcpctl/gateway"
	"orchestrator/thread"
	"orchestrator/thread/rebuild"
	"orchestrator/thread/spending"
)

// What the program passes to a port has the optional abilities that are asked for there: a wrapper that embeds an
// interface would lose them without a word.
var (
	_ thread.Observer  = (*spending.Ledger)(nil)
	_ thread.Pusher    = (*branch.Merger)(nil)
	_ mcpctl.Freshness = (*mcpgateway.Gateway)(nil)
	_ wire.Scanner     = anthropic.New()
	_ wire.Scanner     = openai.NewResponses()
	_ wire.Scanner     = openai.NewChat()
	_ wire.Scanner     = gemini.New()
)

// TestOptionalOfAgents: so have the agents, as the program finds them by name.
func TestOptionalOfAgents(t *testing.T) {
	all := New("/bin/orchestrator", nil, "", "")
	for name, lacks := range map[string][]string{
		"claude": nil, "codex": {"windows"}, "gemini": {"windows"}, "opencode": nil, "demo": {"windows", "files", "hooks"},
		"command": {"transcript", "rebuild", "verify", "usage", "rebuild lost turns", "windows", "files", "input", "prompts"},
	} {
		a, err := all.Agent(name)
		if err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{
			"rules": all.Rules(name) != nil, "input": all.Input(name) != nil, "prompts": !thread.RunsLines(a),
		}
		_, has["transcript"] = a.(thread.Transcriber)
		_, has["rebuild"] = a.(thread.Rebuilder)
		_, has["verify"] = a.(thread.Verifier)
		_, has["usage"] = a.(thread.UsageReader)
		_, has["rebuild lost turns"] = a.(rebuild.Agent)
		_, has["detect"] = a.(thread.Detector)
		_, has["files"] = a.(thread.ConfigFiles)
		_, has["hooks"] = a.(thread.HookReader)
		for _, what := range lacks {
			if has[what] {
				t.Errorf("%s: %s", name, what)
			}
			delete(has, what)
		}
		for what, ok := range has {
			if !ok {
				t.Errorf("%s lacks %s", name, what)
			}
		}
	}
}
