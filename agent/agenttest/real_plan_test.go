package agenttest_test

import (
	"os"
	"path/filepath"
	"regexp"
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
			if n := denied(p); n < len(calls)-1 { // while it plans, it may write plans
				t.Errorf("%d of its calls were denied\n%s", n, p.Log())
			}
			if _, err := os.Stat(file); err == nil {
				t.Fatalf("the file was written\n%s", p.Log())
			}
		}
	}
}

// denied counts the calls that were denied: those that a person would have been asked about, and those that nobody would.
func denied(p *agenttest.Piped) (n int) {
	why := regexp.MustCompile(`not in a run|not offered|a rule denies`)
	for _, e := range p.Events {
		if e.Kind == thread.RunRefused || e.Kind == thread.RunNotice && why.MatchString(e.Text) {
			n++
		}
	}
	return n
}
