package waves

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/demo/record"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// TestSeedPretty: what the tests take for JSON.stringify(data, null, 2) is that.
func TestSeedPretty(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED: it compares with node, which is not here; install it to run it")
	}
	for _, s := range e2e.SeedAgents() {
		if s.Pretty == "" {
			continue
		}
		out, err := exec.Command(node, "-e", "process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]), null, 2))", s.Data).Output()
		if err != nil || string(out) != s.Pretty {
			t.Errorf("%s: %v\n%s\nwant\n%s", s.Name, err, s.Pretty, out)
		}
	}
}

// seven is the seven agents' plan.
func seven(as func(plan.Agent, string) plan.Agent) plan.Plan {
	return e2e.SeedPlan(func(s e2e.SeedAgent, a plan.Agent) plan.Agent {
		a.Prompt = "Task: {{task.title}}\n\nYou do the " + s.Work + "."
		return as(a, s.Data)
	})
}

// wavesApart checks that all of the first wave handed over before any of the second began, that each agent began once, and
// that what each handed over is what it said, once.
func wavesApart(r *rig, v wave.View) {
	r.T.Helper()
	var last time.Time
	for _, s := range e2e.SeedAgents() {
		n := nodeOf(r.T, v, s.Name)
		if n.State != plan.NodeDelivered || n.Round != 1 || n.Version != 1 || n.Retried != 0 || n.Repaired {
			r.T.Errorf("%s: %+v", s.Name, n.Node)
		}
		if s.Wave == 1 && n.Ended.After(last) {
			last = n.Ended
		}
		if s.Wave == 2 && n.Started.Before(last) {
			r.T.Errorf("%s began at %v, before the first wave had handed over at %v", s.Name, n.Started, last)
		}
		if all := r.handedOver(v.Task.Name, s.Name); len(all) != 1 || all[0].Data != s.Data || all[0].Version != 1 || !all[0].Current {
			r.T.Errorf("%s handed over %+v\nwant\n%s", s.Name, all, s.Data)
		}
	}
	for _, x := range r.executions(v.Task.Name) {
		if x.State != work.Completed || x.Attempt != 1 {
			r.T.Errorf("%s (%s): %s, attempt %d: %s", x.Name, x.Part.Agent, x.State, x.Attempt, x.Reason)
		}
	}
	if n := len(r.executions(v.Task.Name)); n != 7 {
		r.T.Errorf("%d executions, want 7", n)
	}
}

// TestSevenPrograms: seven programs in two waves: each of the second read all three outputs of the first on its input, byte
// for byte, and each was started once.
func TestSevenPrograms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	p := seven(r.program)
	task := r.beginAs(p, e2e.SeedTitle)
	v := r.ends(task, plan.Complete)
	wavesApart(r, v)
	for _, s := range e2e.SeedAgents() {
		if n := r.began(s.Name); n != 1 {
			t.Errorf("%s was started %d times", s.Name, n)
		}
		if prompt := r.prompt(s.Name, 1); s.Wave == 2 {
			e2e.SeedHandsOn(t, s.Name, prompt)
		} else if strings.Contains(prompt, "<handed-over") {
			t.Errorf("%s of the first wave was handed something:\n%s", s.Name, prompt)
		}
	}
}

// TestSevenAgents: the same with demo agents, as their own sessions say what they were asked.
func TestSevenAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	task := r.beginAs(seven(demo), e2e.SeedTitle)
	wavesApart(r, r.ends(task, plan.Complete))
	asked := r.demoPrompts()
	if len(asked) != 7 {
		t.Errorf("%d sessions, want 7", len(asked))
	}
	for _, s := range e2e.SeedAgents() {
		i := slices.IndexFunc(asked, func(p string) bool { return strings.Contains(p, "You do the "+s.Work+".") })
		if i < 0 {
			t.Errorf("no session of %s", s.Name)
		} else if s.Wave == 2 {
			e2e.SeedHandsOn(t, s.Name, asked[i])
		}
	}
}

// demoPrompts are the first prompts of all sessions of the demo agent.
func (r *rig) demoPrompts() (all []string) {
	r.T.Helper()
	files, err := filepath.Glob(record.Path(filepath.Join(r.StateDir(), "demo"), "*"))
	if err != nil {
		r.T.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			r.T.Fatal(err)
		}
		for _, l := range record.Lines(b) {
			var m record.Message
			if l.Type == record.TypeMessage && json.Unmarshal(l.Message, &m) == nil && m.Role == "user" {
				all = append(all, m.Text())
				break
			}
		}
	}
	return all
}

// TestTwoTasksAtOnce: two tasks of one plan at once do not mix.
func TestTwoTasksAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	p := seven(demo)
	var tasks []string
	for n := range 2 {
		tasks = append(tasks, r.beginAs(p, fmt.Sprintf("%s, %d", e2e.SeedTitle, n)))
	}
	for n, task := range tasks {
		v := r.ends(task, plan.Complete)
		wavesApart(r, v)
		if want := fmt.Sprintf("%s, %d", e2e.SeedTitle, n); v.Task.Title != want {
			t.Errorf("%s is %q, want %q", task, v.Task.Title, want)
		}
	}
}
