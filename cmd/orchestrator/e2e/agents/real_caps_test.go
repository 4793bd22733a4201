package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// reporting is a model that is asked for a report: it tries one more call, and then says what it has seen.
func reporting(t model.Turn) scripted.Reply {
	if !strings.HasPrefix(t.Prompt, work.ReportAsked) {
		return model.Markers(t)
	}
	if t.Round == 0 && !t.Side {
		return scripted.Reply{Calls: []scripted.Call{t.Shell("touch forbidden.txt", false)}}
	}
	seen := 0
	for i := 1; i <= 25; i++ {
		if strings.Contains(strings.Join(t.Results(), "\n"), fmt.Sprintf("step-%02d", i)) {
			seen = i
		}
	}
	return scripted.Reply{Text: fmt.Sprintf("I got as far as step %d.\nGap: the steps from %d to 25", seen, seen+1)}
}

// TestRealRunsStopAtTheirBound has the real CLIs go on until their 20 calls are used up: exactly so many are made, the run
// is stopped and resumed once, and reports in its own words how far it is and what is missing. What it still calls is not
// done, and the next prompt is a run like any other.
func TestRealRunsStopAtTheirBound(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newScripted(t, cli, reporting)
			prompt := "many steps."
			for i := 1; i <= 25; i++ {
				prompt += fmt.Sprintf(" #bash:echo step-%02d | tee -a steps.txt", i)
			}
			got := r.Run(r.once(prompt)...)
			x := r.execution("exec-001")
			t.Logf("%s: exit %d, attempt %d, %d calls, %s", cli.Name, got.Code, x.Attempt, x.Calls, x.Reason)
			if got.Code != exitcode.Agent || x.State != work.Failed || x.Attempt != 2 || !x.Reporting {
				t.Fatalf("exit %d, %+v\n%s%s", got.Code, x, got.Stdout, got.Stderr)
			}
			if x.Calls != 20 || x.Gap != "the steps from 21 to 25" || !strings.Contains(x.Answer, "as far as step 20") || x.Failure.Code != work.CodePerformance {
				t.Errorf("%d calls, gap %q, answer %q, %+v", x.Calls, x.Gap, x.Answer, x.Failure)
			}
			s := r.Status(string(x.Thread))
			if got := strings.Fields(r.left(s, "steps.txt")); len(got) != 20 || got[19] != "step-20" {
				t.Errorf("its calls left %q", got)
			}
			for _, dir := range []string{r.Project, s.Dir} {
				if _, err := os.Stat(filepath.Join(dir, "forbidden.txt")); err == nil {
					t.Error("it called a tool after its last call")
				}
			}
			if s.Turn != 2 || !strings.HasPrefix(s.Label, "many steps.") || strings.Contains(s.Label, "run-limits") {
				t.Errorf("turn %d, %q", s.Turn, s.Label)
			}
			first := r.request("many steps.")
			if body := string(first.Body); !strings.Contains(body, "You have 20 tool calls") || !strings.Contains(body, "at most 500 words") {
				t.Error("the model was not told its bounds")
			}
			if p := e2e.Get[[]thread.Prompt](r.Rig, "prompts", s.Name); len(p) != 2 {
				t.Errorf("prompts: %+v", p)
			}
			r.Ok("exec", "send", "exec-001", "then. #bash:echo step-21 | tee -a steps.txt #say:after")
			r.awaitRun("exec-002", work.Completed)
			if got := strings.Fields(r.left(r.Status(s.Name), "steps.txt")); len(got) != 21 {
				t.Errorf("the next run left %q", got)
			}
		})
	}
}
