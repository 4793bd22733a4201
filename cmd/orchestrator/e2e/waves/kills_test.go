package waves

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// transitions are the places between the writes of a task, in their order, with those of its runs.
func transitions() []string {
	return []string{
		"wave.added", "wave.begun", "thread.exec.added", "thread.exec.accepted", "wave.started", "wave.ended", "wave.delivered", "wave.finished",
	}
}

// relay is a plan of programs in three waves: three, a gate-less pair that reads all, and one that reads those.
func (r *rig) relay() plan.Plan {
	r.T.Helper()
	p := plan.Plan{Name: "relay"}
	for _, a := range []plan.Agent{
		{Name: "a", Wave: 1},
		{Name: "b", Wave: 1},
		{Name: "c", Wave: 1},
		{Name: "d", Wave: 2},
		{Name: "e", Wave: 2},
		{Name: "f", Reads: []string{"d", "e"}},
	} {
		p.Agents = append(p.Agents, r.program(a, fmt.Sprintf(`{"of": %q, "number": 1.50}`, a.Name)))
	}
	return p
}

// kill ends the server as kill -9 does.
func (r *rig) kill() {
	r.T.Helper()
	for _, pid := range r.Servers() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just ended
	}
	e2e.Await(r.T, "the server to be gone", func() bool { return len(r.Servers()) == 0 })
}

// settled waits for the end of a task, has runs go on that were lost too often to go on by themselves, and checks that nothing was
// done twice that its policy does not say so of, that nothing is lost, and that no row is without an end.
func (r *rig) settled(task string) wave.View {
	r.T.Helper()
	var v wave.View
	var refused string
	for begin := time.Now(); !v.Task.Status.Final(); time.Sleep(50 * time.Millisecond) {
		v = r.Task(task)
		for _, n := range v.Nodes {
			if n.State == plan.NodeAsking && n.Asks == plan.AsksLost {
				refused = r.Run("exec", "resume", n.Exec).Stderr // it may do already
			}
		}
		if time.Since(begin) > e2e.Patience {
			r.T.Fatalf("%s does not go on; the last call said %q: %s", task, refused, r.said(v))
		}
	}
	v = r.ends(task, plan.Complete)
	attempts := map[string]int{}
	for _, x := range r.executions(task) {
		if !x.State.Final() {
			r.T.Errorf("%s of %s is %s", x.Name, x.Part.Agent, x.State)
		}
		attempts[x.Part.Agent] += max(1, x.Attempt)
	}
	ended := map[string]int{}
	for _, line := range r.notes() {
		if name, ok := strings.CutPrefix(line, "end "); ok {
			ended[name]++
		}
	}
	for _, n := range v.Nodes {
		if n.Gate {
			continue
		}
		if n.State != plan.NodeDelivered || n.Version != 1 {
			r.T.Errorf("%s: %s, version %d", n.Agent, n.State, n.Version)
		}
		if began := r.began(n.Agent); began > attempts[n.Agent] || began == 0 {
			r.T.Errorf("%s was started %d times, its rows have %d attempts", n.Agent, began, attempts[n.Agent])
		}
		all := r.handedOver(task, n.Agent)
		if len(all) != 1 {
			r.T.Errorf("%s handed over %d times", n.Agent, len(all))
		}
		r.reads(n)
	}
	if left := r.left(); len(left) > 0 {
		r.T.Errorf("left running: %q", left)
	}
	return v
}

// reads checks that the last prompt of a program has what each of its upstreams handed over.
func (r *rig) reads(n wave.NodeView) {
	r.T.Helper()
	prompt := r.prompt(n.Agent, r.began(n.Agent))
	for _, up := range n.Reads {
		want := fmt.Sprintf("{\n  \"of\": %q,\n  \"number\": 1.50\n}", up)
		if strings.Count(prompt, want) != 1 {
			r.T.Errorf("%s reads of %s not this, once: %s\n%s", n.Agent, up, want, prompt)
		}
	}
}

// TestKilledAtTransitions kills the server between the writes of a task. The next one goes on from the rows.
func TestKilledAtTransitions(t *testing.T) {
	rounds := e2e.FromEnv(t, "WAVE_KILL_ROUNDS", 1)
	for _, at := range transitions() {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			for round := range rounds {
				killedAt(t, at, round)
			}
		})
	}
}

// killedAt kills at one of the hits of a place: which one follows from the round.
func killedAt(t *testing.T, at string, round int) {
	t.Helper()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8", "ORCHESTRATOR_RUNS_LOST=retry")
	file := r.file(r.relay())
	r.Ok("threads") // a server starts before it may be killed
	r.Ok("stop")
	healthy := r.Env
	hit := 1
	switch at {
	case "wave.added", "wave.finished": // there is one
	case "wave.begun":
		hit = 1 + round%3
	default:
		hit = 1 + round%6
	}
	r.Env = append(slices.Clone(healthy), fmt.Sprintf("ORCHESTRATOR_FAILPOINT=%s:%d", at, hit))
	res := r.Run("wave", "run", "--detach", file, "killed at "+at)
	r.Env = healthy
	e2e.Await(t, fmt.Sprintf("the server to be killed at %s:%d", at, hit), func() bool { return len(r.Servers()) == 0 })
	r.Ok("threads")
	tasks := r.tasks()
	if len(tasks) > 1 || res.Code == 0 && len(tasks) == 0 {
		t.Fatalf("%d tasks; the call ended with %d: %s", len(tasks), res.Code, res.Stderr)
	}
	for _, task := range tasks {
		r.settled(task.Name)
	}
}

// TestKilledAnyTime kills the server at any moment of tasks at work, round after round.
func TestKilledAnyTime(t *testing.T) {
	t.Parallel()
	rounds := e2e.FromEnv(t, "WAVE_KILL_ROUNDS", 1)
	seed := uint64(e2e.FromEnv(t, "WAVE_KILL_SEED", int(time.Now().UnixNano()%1e9)))
	t.Logf("WAVE_KILL_SEED=%d kills at the same moments again", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		r := newRig(t)
		r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8", "ORCHESTRATOR_RUNS_LOST=retry")
		p := r.relay()
		for _, a := range p.Agents {
			r.slow(a.Name, time.Duration(chance.IntN(500))*time.Millisecond)
		}
		r.Ok("threads")
		task := r.begin(p)
		for range 1 + chance.IntN(3) {
			time.Sleep(time.Duration(chance.IntN(1200)) * time.Millisecond) // the point is that it comes at any moment
			r.kill()
			r.Ok("threads")
		}
		r.settled(task)
	}
}

// left are the programs that still run.
func (r *rig) left() (all []string) {
	r.T.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		r.T.Fatal(err)
	}
	for _, file := range files {
		line, _ := os.ReadFile(file) // of one that ended there is none
		if words := strings.ReplaceAll(string(line), "\x00", " "); strings.Contains(words, filepath.Join(r.out, "step.sh")) {
			all = append(all, words)
		}
	}
	return all
}

// lost are the executions of a task whose end nobody knows.
func (r *rig) lost(task string) (all []work.Execution) {
	r.T.Helper()
	for _, x := range r.executions(task) {
		if x.State == work.Lost {
			all = append(all, x)
		}
	}
	return all
}

// TestKilledAtVerbs kills the server right after what a person asks for was written down: it holds, once.
func TestKilledAtVerbs(t *testing.T) {
	for _, at := range []string{"wave.answered", "wave.cancelled", "wave.retried"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			for range e2e.FromEnv(t, "FAILPOINT_ROUNDS", 1) {
				killedAtVerb(t, at)
			}
		})
	}
}

func killedAtVerb(t *testing.T, at string) {
	t.Helper()
	r := newRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_LOST=retry")
	r.Ok("threads") // a server starts before it may be killed
	r.Ok("stop")
	healthy := r.Env
	r.Env = append(slices.Clone(healthy), "ORCHESTRATOR_FAILPOINT="+at)
	p := r.chain("asked", "a", "b")
	var verb []string
	var task string
	switch at {
	case "wave.answered":
		p.Gates = []plan.Gate{{Name: "look", After: 1}}
		task = r.begin(p)
		r.is(task, "look", plan.NodeAsking)
		verb = []string{"wave", "answer", task, "look", "--yes"}
	case "wave.cancelled":
		r.slow("a", 3*time.Second)
		task = r.begin(p)
		e2e.Await(t, "the first to begin", func() bool { return r.began("a") > 0 })
		verb = []string{"wave", "cancel", task}
	default:
		task = r.begin(p)
		r.ends(task, plan.Complete)
		verb = []string{"wave", "retry", task, "--agent", "a", "--yes"}
	}
	r.Run(verb...)
	r.Env = healthy
	e2e.Await(t, "the server to be killed at "+at, func() bool { return len(r.Servers()) == 0 })
	r.Ok("threads")
	switch at {
	case "wave.answered":
		r.settled(task)
		if res := r.Run("wave", "answer", task, "look", "--no"); res.Code == 0 {
			t.Errorf("answered again: %s", res.Stdout)
		}
	case "wave.cancelled":
		r.ends(task, plan.Cancelled)
		e2e.Await(t, "its runs and processes to end", func() bool {
			open := slices.ContainsFunc(r.executions(task), func(x work.Execution) bool { return !x.State.Final() })
			return !open && len(r.left()) == 0
		})
		if r.began("a") != 1 || r.began("b") != 0 {
			t.Errorf("after it was cancelled: %v", r.notes())
		}
	default:
		e2e.Await(t, "its second round", func() bool {
			v := r.Task(task)
			return v.Task.Status == plan.Complete && nodeOf(t, v, "a").Round == 2
		})
		if r.began("a") != 2 || r.began("b") != 1 {
			t.Errorf("begun again: %v", r.notes())
		}
	}
}
