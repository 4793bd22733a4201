package agents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/work"
)

// TestRealRunsAskNobody: the real CLIs that can ask nobody without a terminal. A run that is to wait for a person fails at the
// first thing that it would ask, with that; one that is to go on without does so as far as its CLI can.
func TestRealRunsAskNobody(t *testing.T) {
	for _, cli := range clis.All() {
		if !slices.Contains([]string{"gemini", "opencode"}, cli.Name) {
			continue
		}
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			const prompt = "careful #escalate #bash:touch ../asked.txt #say:went on"
			run := func(name string, more ...string) (work.Execution, time.Duration) {
				t.Helper()
				args := append([]string{"run", "--once", "-a", cli.Name, "-m", cli.Model, "--permission-mode", cli.Asking, "--no-worktree"}, more...)
				got := r.Run(append(args, prompt)...)
				if got.Code == exitcode.OK && !strings.Contains(got.Stdout, "went on") {
					t.Errorf("%+v", got)
				}
				x := r.execution(name)
				var answered time.Time
				for _, q := range r.model.Main() {
					if q.Turn.Prompt == prompt && answered.Before(q.Received) {
						answered = q.Received
					}
				}
				return x, x.Ended.Sub(answered)
			}
			x, took := run("exec-001")
			if x.State != work.Failed || x.Failure.Code != work.CodeUnclear || !strings.Contains(x.Reason, "touch ../asked.txt") {
				t.Errorf("%s: %s, %+v", x.State, x.Reason, x.Failure)
			}
			if took > 5*time.Second {
				t.Errorf("it took %s from the model's answer to the end", took)
			}
			t.Logf("%s: ended %s after the model's answer: %s", cli.Name, took, x.Reason)
			x, _ = run("exec-002", "--asks", "refuse")
			want := work.Completed
			if cli.Name == "opencode" { // a call that it refuses ends its turn
				want = work.Failed
			}
			if x.State != want || !strings.Contains(x.Reason, "touch ../asked.txt") {
				t.Errorf("%s: %s", x.State, x.Reason)
			}
			if _, err := os.Stat(filepath.Join(r.Project, "..", "asked.txt")); err == nil {
				t.Error("it was done nevertheless")
			}
		})
	}
}
