package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/work"
)

// TestRealRunsStopped stops the server while eight runs of the four real CLIs have a command running: nothing is left of
// them, and after the next start each has the end that its policy says, or goes on to its end.
func TestRealRunsStopped(t *testing.T) {
	bin := clis.Bin(t)
	r := &realRig{Rig: e2e.NewRig(t), model: model.New(atWork)}
	t.Cleanup(r.model.Close)
	r.Patience = 3 * e2e.Patience
	r.Env = append(r.Env, "PATH="+bin+":"+pathOf(r.Env), "ORCHESTRATOR_NEW_WORKTREE=shared", "ORCHESTRATOR_RUNS_PARALLEL=8")
	for _, cli := range clis.All() {
		r.cli = cli
		r.setUp(cli)
	}
	child := fmt.Sprintf("tail -s 8%d -f /dev/null", os.Getpid())
	asks := map[string]bool{}
	for n := range 8 {
		r.cli = clis.All()[n%4]
		lost := []string{"ask", "resume"}[n/4]
		name := fmt.Sprintf("%s-%s", r.cli.Name, lost)
		asks[name] = lost == "ask"
		r.Ok(r.once("-d", "--no-worktree", "--lost", lost, "--as", name, "run "+name+". #bash:"+child)...)
	}
	e2e.Await(t, "eight commands", func() bool { return len(processesWith(child)) >= 8 })
	begin := time.Now()
	if got := r.Run("stop", "--force"); got.Code != exitcode.OK {
		t.Fatalf("%+v", got)
	}
	t.Logf("stopped in %v", time.Since(begin).Round(time.Millisecond))
	r.noProcess(0, child)

	for name, ask := range asks {
		if ask {
			r.awaitRun(name, work.Lost)
			continue
		}
		e2e.Await(t, name+" to go on", func() bool { return r.execution(name).Attempt == 2 || r.execution(name).State.Final() })
		x := r.execution(name)
		if x.State == work.Lost && x.Agent == "opencode" && x.Printed == 0 {
			continue // it names its session with its first message, and that is printed once it is whole
		}
		if x.State.Final() && x.State != work.Completed {
			t.Errorf("%s: %+v", name, x)
		}
		r.Run("exec", "cancel", name)
	}
	r.noProcess(2*time.Second, child)
}

// TestRealRunsReadOnlyTaken opens a run of the real CLIs that may only read in a terminal and gives it back: the next run
// has the whole history, and may still only read.
func TestRealRunsReadOnlyTaken(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			r.Ok("run", "--once", "--read-only", "-a", cli.Name, "-m", cli.Model, "first. #say:ok")
			x := r.execution("exec-001")
			s := r.Status(string(x.Thread))
			r.Ok("resume", s.Name)
			r.Ok("send", s.Name, "typed. #say:ok")
			r.Ok("stop", s.Name)
			r.Run("exec", "send", "exec-001", "back. #bash:touch made.txt #say:tried")
			said := strings.Join(r.request("back.").Turn.Prompts(), "\n")
			for _, past := range []string{"first.", "typed."} {
				if !strings.Contains(said, past) {
					t.Errorf("the model does not hear of %s: %q", past, said)
				}
			}
			for _, dir := range []string{r.Project, r.Status(string(x.Thread)).Dir} {
				if _, err := os.Stat(filepath.Join(dir, "made.txt")); err == nil {
					t.Errorf("it wrote into %s", dir)
				}
			}
		})
	}
}
