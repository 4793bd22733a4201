package agenttest_test

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/thread"
)

// TestRealPlanIsNoWayOut: without a terminal Gemini CLI approves a plan by itself, and with it everything that comes after.
// A run in which its tools would ask, or that only reads, cannot go there.
func TestRealPlanIsNoWayOut(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "gemini" {
			continue
		}
		s := newRuns(t, cli)
		file := filepath.Join(s.dir, "planned.txt")
		calls := []scripted.Call{
			{Name: "enter_plan_mode", Args: map[string]any{}},
			{Name: "exit_plan_mode", Args: map[string]any{"plan_filename": "x.md"}},
			{Name: "run_shell_command", Args: map[string]any{"command": "touch " + file, "is_background": false}},
			{Name: "write_file", Args: map[string]any{"file_path": file, "content": "x"}},
		}
		s.server = model.New(func(turn model.Turn) scripted.Reply {
			if turn.Round < len(calls) {
				return scripted.Reply{Calls: calls[turn.Round : turn.Round+1]}
			}
			return scripted.Reply{Text: "tried"}
		})
		t.Cleanup(s.server.Close)
		for _, edit := range []func(*thread.LaunchSpec){
			func(spec *thread.LaunchSpec) { spec.Flags.PermissionMode = cli.Asking },
			func(spec *thread.LaunchSpec) { spec.Flags.PermissionMode = "plan" },
			func(spec *thread.LaunchSpec) { spec.Once.ReadOnly = true },
			func(spec *thread.LaunchSpec) { spec.Once.ReadOnly, spec.Flags.PermissionMode = true, cli.Mode },
		} {
			p := completes(t, s.once(edit).Begin("plan"))
			if refused(p) < 2 {
				t.Errorf("%d of its calls were refused\n%s", refused(p), p.Log())
			}
			if _, err := os.Stat(file); err == nil {
				t.Fatalf("the file was written\n%s", p.Log())
			}
		}
	}
}

func refused(p *agenttest.Piped) (n int) {
	for _, e := range p.Events {
		if e.Kind == thread.RunRefused {
			n++
		}
	}
	return n
}
