package agents

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// switchRounds is how often a server is switched on and off.
const switchRounds = 4

// TestRealSwitchIsInForce switches a server on and off, each time with a prompt right after it, also two at once: what is
// on can be called by the next prompt, and what is off cannot. It is not even offered, unless the switch said that it is.
func TestRealSwitchIsInForce(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) { switchIsInForce(t, cli) })
		if cli.Name == "claude" {
			t.Run(cli.Name+" with all definitions", func(t *testing.T) { switchIsInForce(t, cli, "ENABLE_TOOL_SEARCH=false") })
		}
	}
}

func switchIsInForce(t *testing.T, cli clis.CLI, env ...string) {
	if cli.Name == "codex" {
		cli.Model = "gpt-4.1" // tools of newer models are behind a search
	}
	r := newScripted(t, cli, callsFake)
	r.Env = append(r.Env, env...)
	r.mcpServers(map[string]any{"fake": e2e.FakeServer(), "other": e2e.FakeServer()})
	name := r.start("switches")
	kept := func() bool { // the list says that what is off is still shown
		for _, s := range e2e.Get[thread.MCPReport](r.Rig, "mcp", "list", "--thread", name).Servers {
			if s.ID == "fake" {
				return s.Kept != ""
			}
		}
		return false
	}
	shown, late := 0, 0
	check := func(round int, on bool) {
		t.Helper()
		res := r.Run("send", name, fmt.Sprintf("round %d, %v?", round, on), "--timeout", "4m")
		got := strings.TrimSpace(res.Stdout)
		switch said := strings.Contains(res.Stderr, "MCP servers have changed"); {
		case res.Code != 0:
			t.Fatalf("round %d: exit %d, %s", round, res.Code, res.Stderr)
		case said:
			late++
			t.Logf("round %d, on %v: it went without the switch, and said so: %q", round, on, got)
		case on && got == "called", !on && got == "not offered":
		case !on && got == "refused" && kept():
			shown++
		default:
			t.Errorf("round %d, on %v: %q", round, on, got)
		}
		if on && kept() {
			t.Errorf("round %d: it is on, and said to be shown although it is off", round)
		}
	}
	r.Ok("mcp", "disable", "--now", "fake", "--thread", name) // the person's own servers are on
	check(0, false)
	for round := 1; round <= switchRounds; round++ {
		r.Ok("mcp", "enable", "fake", "--thread", name)
		if round%2 == 0 {
			r.Ok("mcp", "enable", "other", "--thread", name)
		}
		check(round, true)
		out := r.Ok("mcp", "disable", "--now", "fake", "--thread", name)
		if kept() != strings.Contains(out, "goes on showing") {
			t.Errorf("round %d: the verb says %s", round, out)
		}
		check(round, false)
	}
	if late > switchRounds/2 { // a busy machine may be late now and then
		t.Errorf("%d prompts went late", late)
	}
	t.Logf("%s: %d prompts after a switch, %d went late and said so; %d times that was off was still shown", cli.Name, 2*switchRounds, late, shown)
}

// callsFake calls a tool of the server "fake", as often as it takes to load it, and says what came of it.
func callsFake(turn model.Turn) scripted.Reply {
	if turn.Side {
		return model.Markers(turn)
	}
	for _, o := range turn.Outcomes {
		if strings.Contains(o.Output, "No matching deferred tools") {
			return scripted.Reply{Text: "not offered"}
		}
		if !strings.HasSuffix(o.Name, "echo") {
			continue
		}
		if strings.Contains(o.Output, `"said here"`) {
			return scripted.Reply{Text: "called"}
		}
		return scripted.Reply{Text: "refused"}
	}
	call, ok := turn.MCP("fake__echo", map[string]any{"say": "said here"})
	if !ok {
		return scripted.Reply{Text: "not offered"}
	}
	return scripted.Reply{Calls: []scripted.Call{call}}
}
