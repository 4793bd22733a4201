package waves

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// measures skips a test that measures, unless it is asked for.
func measures(t *testing.T) {
	t.Helper()
	if os.Getenv("MEASURE") == "" {
		t.Skipf("SKIPPED: it measures; `MEASURE=1 go test -v -count=1 -run '^%s$' ./cmd/orchestrator/e2e/waves` runs it", t.Name())
	}
}

// load is how busy the machine is, for whoever reads the figures.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg") // without it there is nothing to say
	return strings.TrimSpace(string(b))
}

func ms(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// TestMeasureSeven measures the seven agents, each of which takes two seconds: from `run` until all of the first wave have
// begun, from the last hand-over until all of the second have begun, and all of it beside the longest chain.
func TestMeasureSeven(t *testing.T) {
	measures(t)
	t.Logf("load at the beginning: %s", load())
	for _, what := range []string{"demo", "program"} {
		var first, second, wall []time.Duration
		var ratio []float64
		for range e2e.FromEnv(t, "MEASURE_ROUNDS", 5) {
			r := newRig(t)
			r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
			as := func(a plan.Agent, data string) plan.Agent {
				if what == "demo" {
					return demo(plan.Agent{Name: a.Name, Wave: a.Wave, Prompt: a.Prompt + "\n\n#slow:2s"}, data)
				}
				r.slow(a.Name, 2*time.Second)
				return r.program(a, data)
			}
			p := seven(as)
			r.Ok("threads")
			asked := time.Now()
			v := r.ends(r.beginAs(p, e2e.SeedTitle), plan.Complete)
			var handed, one, two time.Time
			began := map[string]time.Time{}
			for _, x := range r.executions(v.Task.Name) {
				began[x.Part.Agent] = x.Started
			}
			for _, n := range v.Nodes {
				if n.Wave == 1 {
					handed, one = later(handed, n.Ended), later(one, began[n.Agent])
				} else {
					two = later(two, began[n.Agent])
				}
			}
			first, second = append(first, one.Sub(asked)), append(second, two.Sub(handed))
			wall, ratio = append(wall, v.Wall), append(ratio, float64(v.Wall)/float64(v.Critical))
		}
		slices.Sort(ratio)
		t.Logf("%s: wave 1 all started after `run`: median %v, worst %v; wave 2 after the last commit: median %v, worst %v; wall median %v, %.2f of the critical path (worst %.2f)",
			what, ms(e2e.Percentile(first, 50)), ms(slices.Max(first)), ms(e2e.Percentile(second, 50)), ms(slices.Max(second)),
			ms(e2e.Percentile(wall, 50)), ratio[len(ratio)/2], ratio[len(ratio)-1])
	}
	t.Logf("load at the end: %s", load())
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// noop is an agent that does nothing and hands nothing but an empty object over.
func noop(name string) plan.Agent {
	return plan.Agent{Name: name, Agent: "command", Program: []string{"/bin/echo", `{"output_data": {}}`}, Prompt: "Do nothing.", Writes: []string{"made-by-" + name + "/**"}}
}

// TestMeasureStart measures how long it takes from the call that begins a task until its agent's process has been started,
// beside a run of the same program without a plan.
func TestMeasureStart(t *testing.T) {
	measures(t)
	r := newBare(t)
	r.Ok("threads")
	cl := r.Client()
	rounds := e2e.FromEnv(t, "MEASURE_ROUNDS", 40)
	await := func(name string) (x work.Execution) {
		e2e.Await(t, "the end of "+name, func() bool {
			var err error
			x, err = api.Execution.Do(t.Context(), cl, api.ExecutionRef{Execution: name})
			return err == nil && x.State.Final()
		})
		if x.State != work.Completed {
			t.Fatalf("%s: %s", x.State, x.Reason)
		}
		return x
	}
	var calls, rows, starts, calls0, rows0, starts0 []time.Duration
	for n := range rounds {
		begin := time.Now()
		s, err := api.StartRun.Do(t.Context(), cl, thread.NewRequest{
			Agent: "command", Flags: thread.Flags{Program: noop("x").Program}, Label: fmt.Sprint("run ", n), Prompt: "Do nothing.", InPlace: true,
			Once: thread.Once{On: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		calls0 = append(calls0, time.Since(begin))
		x := await(s.Run.Execution)
		rows0, starts0 = append(rows0, x.Created.Sub(begin)), append(starts0, x.Started.Sub(begin))

		begin = time.Now()
		v, err := api.RunWave.Do(t.Context(), cl, wave.RunRequest{Plan: plan.Plan{Name: "one", Agents: []plan.Agent{noop("x")}}, Title: fmt.Sprint("task ", n)})
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, time.Since(begin))
		x = await(execution(t, r, v.Task.Name, "x"))
		rows, starts = append(rows, x.Created.Sub(begin)), append(starts, x.Started.Sub(begin))
		r.ends(v.Task.Name, plan.Complete)
	}
	for what, all := range map[string][3][]time.Duration{"a run without a plan": {calls0, rows0, starts0}, "a task of one agent": {calls, rows, starts}} {
		t.Logf("%s, p50 of %d: the call %v, from it to the execution's row %v, to its process %v",
			what, rounds, ms(e2e.Percentile(all[0], 50)), ms(e2e.Percentile(all[1], 50)), ms(e2e.Percentile(all[2], 50)))
	}
	t.Logf("load: %s", load())
}

// execution waits for the execution of a node and returns its name.
func execution(t *testing.T, r *rig, task, node string) (name string) {
	t.Helper()
	e2e.Await(t, "the execution of "+node, func() bool {
		name = nodeOf(t, r.Task(task), node).Exec
		return name != ""
	})
	return name
}

// TestMeasureMany runs ten tasks with fifty demo agents at once.
func TestMeasureMany(t *testing.T) {
	measures(t)
	r := newBare(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=50")
	r.Ok("threads")
	p := plan.Plan{Name: "many"}
	for n := range 5 {
		p.Agents = append(p.Agents, demo(plan.Agent{Name: fmt.Sprint("w", n), Prompt: "#slow:2s"}, fmt.Sprintf(`{"n": %d}`, n)))
	}
	file := r.file(p)
	begin := time.Now()
	tasks := make([]string, 10)
	var all sync.WaitGroup
	for n := range tasks {
		all.Go(func() {
			tasks[n] = strings.TrimSpace(r.Ok("wave", "run", "--detach", "--yes", file, fmt.Sprint("task ", n)))
		})
	}
	all.Wait()
	asked := time.Since(begin)
	var starts []time.Duration
	for _, task := range tasks {
		v := r.ends(task, plan.Complete)
		for _, x := range r.executions(task) {
			starts = append(starts, x.Started.Sub(v.Task.Created))
			if x.Attempt != 1 || x.State != work.Completed {
				t.Errorf("%s: %s, attempt %d", x.Name, x.State, x.Attempt)
			}
		}
	}
	t.Logf("10 tasks of 5 demo agents that take 2 s: all accepted after %v, all done after %v; from a task's row to an agent's process p50 %v, worst %v; the server has %d MB; load %s",
		ms(asked), ms(time.Since(begin)), ms(e2e.Percentile(starts, 50)), ms(slices.Max(starts)), e2e.ProcessOf(t, r.ServerPID(), "status", "VmRSS")>>10, load())
}

// TestMeasureLarge runs a plan of thousands of agents that do nothing, each of which reads the one before, and starts the same
// program as often without orchestrator. The server's memory must not grow with what has been done.
func TestMeasureLarge(t *testing.T) {
	measures(t)
	count := e2e.FromEnv(t, "MEASURE_NODES", 2000)
	r := newBare(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=4")
	r.Ok("threads")
	t.Logf("load: %s", load())
	begin := time.Now()
	for range count {
		if err := exec.Command("/bin/echo", "{}").Run(); err != nil {
			t.Fatal(err)
		}
	}
	bare := time.Since(begin)
	p := plan.Plan{Name: "large"}
	for n := range count {
		a := noop(fmt.Sprintf("n%05d", n))
		if n > 0 {
			a.Reads = []string{fmt.Sprintf("n%05d", n-1)}
		}
		p.Agents = append(p.Agents, a)
	}
	file := r.file(p)
	pid := r.ServerPID()
	begin = time.Now()
	if res := r.Run("wave", "plan", file); res.Code != 0 {
		t.Errorf("check: exit %d: %s", res.Code, res.Stderr)
	}
	checked := time.Since(begin)
	begin = time.Now()
	task := strings.TrimSpace(r.Ok("wave", "run", "--detach", "--yes", file, "large"))
	accepted := time.Since(begin)
	cl := r.Client()
	next := count / 10
	for {
		v, err := api.WaveStatus.Do(t.Context(), cl, wave.TaskRef{Task: task})
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, n := range v.Nodes {
			if n.State.Final() {
				done++
			}
		}
		if done >= next || v.Task.Status.Final() {
			t.Logf("%d done after %v: %d MB, %d threads, %d files", done, time.Since(begin).Round(time.Second),
				e2e.ProcessOf(t, pid, "status", "VmRSS")>>10, e2e.ProcessOf(t, pid, "status", "Threads"), files(pid))
			next += count / 10
		}
		if v.Task.Status.Final() {
			if v.Task.Status != plan.Complete {
				t.Errorf("%s: %s", v.Task.Status, v.Task.Reason)
			}
			break
		}
		time.Sleep(2 * time.Second)
	}
	took := time.Since(begin)
	t.Logf("%d agents: checked in %v, accepted in %v, done in %v, %v each; bare processes took %v, %v each; load %s",
		count, ms(checked), ms(accepted), took.Round(time.Second), ms(took/time.Duration(count)), bare.Round(time.Millisecond), ms(bare/time.Duration(count)), load())
}

// files counts those that a process has open.
func files(pid int) int {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return len(all)
}
