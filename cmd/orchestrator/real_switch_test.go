package main

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
)

// switchRounds is how often a server is switched on and off.
const switchRounds = 6

// TestRealSwitchIsInForce switches a server on and off, each time with a prompt right after it, also two at once: the
// first request of each prompt offers the tools that are switched on and no others, or send says that the agent has not
// read them.
func TestRealSwitchIsInForce(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			if cli.Name == "codex" {
				cli.Model = "gpt-4.1" // tools of newer models are behind a search
			}
			r := newScripted(t, cli, func(turn model.Turn) scripted.Reply {
				if turn.Side {
					return model.Markers(turn)
				}
				_, ok := turn.MCP("fake__echo", nil)
				return scripted.Reply{Text: fmt.Sprintf("offered: %v", ok)}
			})
			r.env = append(r.env, "ENABLE_TOOL_SEARCH=false") // Claude Code then sends all definitions
			r.mcpServers(map[string]any{"fake": fakeServer(), "other": fakeServer()})
			name := r.start("switches")
			late := 0
			check := func(round int, on bool) {
				t.Helper()
				res := r.run("send", name, fmt.Sprintf("round %d, %v?", round, on), "--timeout", "4m")
				want := fmt.Sprintf("offered: %v\n", on)
				switch said := strings.Contains(res.stderr, "MCP servers are switched otherwise"); {
				case res.code != exitOK:
					t.Fatalf("round %d: exit %d, %s", round, res.code, res.stderr)
				case res.stdout == want:
				case said:
					late++
				default:
					t.Errorf("round %d: %q, want %q; %s", round, res.stdout, want, res.stderr)
				}
			}
			check(0, false)
			for round := 1; round <= switchRounds; round++ {
				r.ok("mcp", "enable", "fake", "--thread", name)
				if round%2 == 0 {
					r.ok("mcp", "enable", "other", "--thread", name)
				}
				check(round, true)
				r.ok("mcp", "disable", "--now", "fake", "--thread", name)
				check(round, false)
			}
			t.Logf("%s: %d prompts after a switch, %d went late and said so", cli.Name, 2*switchRounds, late)
		})
	}
}
