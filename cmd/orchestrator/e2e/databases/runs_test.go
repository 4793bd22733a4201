package databases

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/postgres/pgtest"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/work"
)

// runs are the executions that a rig's server has, the newest first.
func runs(r *e2e.Rig) []work.Execution {
	r.T.Helper()
	return e2e.Get[[]work.Execution](r, "exec", "list", "--limit", "1000")
}

// is waits for a state of an execution.
func is(r *e2e.Rig, name string, want ...work.State) (x work.Execution) {
	r.T.Helper()
	for begin := time.Now(); time.Since(begin) < e2e.Patience; time.Sleep(50 * time.Millisecond) {
		all := runs(r)
		i := slices.IndexFunc(all, func(x work.Execution) bool { return x.Name == name })
		if i < 0 {
			r.T.Fatalf("no execution %s", name)
		}
		if x = all[i]; slices.Contains(want, x.State) {
			return x
		}
	}
	r.T.Fatalf("%s is %s (%s), want %v", name, x.State, x.Reason, want)
	return x
}

// once submits a run of the demo agent.
func once(r *e2e.Rig, prompt string, flags ...string) string {
	r.T.Helper()
	args := append([]string{"run", "--once", "-d", "-a", "demo", "--permission-mode", "auto", "--no-worktree"}, flags...)
	return strings.TrimSpace(r.Ok(append(args, prompt)...))
}

// headless are the processes of a rig's runs.
func headless(r *e2e.Rig) (n int) {
	r.T.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // of one that ended there is none
		if strings.Contains(string(line), "--headless") && strings.Contains(string(line), r.Home) {
			n++
		}
	}
	return n
}

// TestRunsOfTwoServers has two servers of one project on one database: names are unique in the project, each starts only its
// own executions, once, and one that dies leaves the other's alone, which does not take over what it left.
func TestRunsOfTwoServers(t *testing.T) {
	t.Parallel()
	url := e2e.Database.Database(t, "runs")
	a, b := e2e.NewRig(t), e2e.NewRig(t)
	both := []*e2e.Rig{a, b}
	for _, r := range both {
		r.KeepIn(url)
		r.Env = append(r.Env, "ORCHESTRATOR_PROJECT=ours", "ORCHESTRATOR_RUNS_PARALLEL=4")
		r.Ok("threads")
	}
	const each = 8
	names := make([][]string, 2)
	var all sync.WaitGroup
	for i, r := range both {
		all.Go(func() {
			for n := range each {
				names[i] = append(names[i], once(r, fmt.Sprintf("write f%d-%d.txt: it is %d", i, n, n)))
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for i, r := range both {
		for n, name := range names[i] {
			if seen[name] {
				t.Errorf("two are called %s", name)
			}
			seen[name] = true
			x := is(r, name, work.Completed)
			if x.Attempt != 1 || x.Usage.Output == 0 {
				t.Errorf("%s: %+v", name, x)
			}
			if got := r.Read(fmt.Sprintf("f%d-%d.txt", i, n)); !strings.Contains(got, fmt.Sprint("it is ", n)) {
				t.Errorf("%s wrote %q", name, got)
			}
		}
		if got := runs(r); len(got) != each {
			t.Errorf("server %d lists %d executions, want %d", i, len(got), each)
		}
		if got, _ := filepath.Glob(filepath.Join(r.Project, fmt.Sprintf("f%d-*", 1-i))); len(got) > 0 {
			t.Errorf("it ran the other's: %v", got)
		}
	}
	once(a, "say hello", "--as", "mine")
	if res := b.Run("run", "--once", "-d", "-a", "demo", "--as", "mine", "say hello"); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "mine") {
		t.Errorf("the other's name: exit %d: %s", res.Code, res.Stderr)
	}
	for _, verb := range [][]string{{"exec", "show", names[0][0]}, {"exec", "cancel", names[0][0]}, {"exec", "send", names[0][0], "more"}, {"exec", "logs", names[0][0]}} {
		if res := b.Run(verb...); res.Code != exitcode.NotFound {
			t.Errorf("%v: exit %d: %s%s", verb, res.Code, res.Stdout, res.Stderr)
		}
	}

	// One dies with eight.
	var dying []string
	for n := range each {
		dying = append(dying, once(a, "#slow:300s say hello", "--lost", []string{"ask", "retry"}[n%2], "--deadline", "40s"))
	}
	working := once(b, "#slow:5s write after.txt: it goes on")
	for _, name := range dying[:4] {
		is(a, name, work.Running)
	}
	is(b, working, work.Running)
	a.Ok("queue", "pause")
	if err := syscall.Kill(a.ServerPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "its server to be gone", func() bool { return len(a.Servers()) == 0 })
	b.Ok("restart") // a start looks what was left, too
	if x := is(b, working, work.Completed, work.Lost); x.Attempt > 1 {
		t.Errorf("%s: %+v", working, x)
	}
	if got := runs(b); len(got) != each+1 {
		t.Errorf("the other has %d executions, want %d", len(got), each+1)
	}
	if n := headless(b); n > 0 {
		t.Errorf("the other has %d processes", n)
	}
	for n, name := range dying {
		want := []work.State{work.Queued}
		if n < 4 && n%2 == 0 {
			want = []work.State{work.Lost}
		}
		is(a, name, want...) // starts its server
		a.Ok("exec", "cancel", name)
	}
	a.Ok("queue", "resume")
	is(a, once(a, "say hello"), work.Completed)
}

// TestRunsWhileTheStoreIsAway kills the database under eight runs and eight that wait: nothing is claimed that is not
// stored, new ones are refused with the reason, cancelling ends the process, and once it is back all end, with what they
// cost.
func TestRunsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	r := e2e.NewRig(t)
	r.KeepIn(own.Database(t, "away"))
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=4")
	r.Ok("threads")
	var names []string
	for n := range 6 {
		names = append(names, once(r, fmt.Sprintf("#slow:%ds write n%d.txt: it is %d", 5+n, n, n), "--lost", "retry"))
	}
	gone := once(r, "#slow:200s say hello", "--priority", "5")
	is(r, gone, work.Running)
	own.Kill(t, syscall.SIGKILL)
	res := r.Run("run", "--once", "-d", "-a", "demo", "--no-worktree", "say hello")
	if res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "Is the database running") {
		t.Errorf("a new one: exit %d: %s%s", res.Code, res.Stdout, res.Stderr)
	}
	before := headless(r)
	res = r.Run("exec", "cancel", gone)
	if !strings.Contains(res.Stderr, "process is ended") {
		t.Errorf("cancelled: exit %d: %s%s", res.Code, res.Stdout, res.Stderr)
	}
	if n := headless(r); n != before-1 {
		t.Errorf("%d processes, %d before it was cancelled", n, before)
	}
	for _, verb := range [][]string{{"exec", "list"}, {"exec", "show", gone}, {"queue", "list"}} {
		begin := time.Now()
		res := r.Run(verb...)
		if took := time.Since(begin); took > 20*time.Second || strings.Contains(res.Stderr, "panic") {
			t.Errorf("%v: exit %d in %v: %s%s", verb, res.Code, took, res.Stdout, res.Stderr)
		}
		t.Logf("%v: exit %d: %s", verb, res.Code, res.Stderr)
	}
	time.Sleep(3 * time.Second) // some end meanwhile
	own.Start(t)
	e2e.Await(t, "the server to go on by itself", func() bool { return r.Run("threads").Stderr == "" })
	is(r, gone, work.Cancelled)
	for n, name := range names {
		x := is(r, name, work.Completed)
		s := r.Status(string(x.Thread))
		if s.Turn != 1 || x.Usage.Output == 0 || x.Usage.Output > s.Usage.Output || x.Attempt != 1 {
			t.Errorf("%s: attempt %d, %+v; its thread: turn %d, %+v", name, x.Attempt, x.Usage, s.Turn, s.Usage)
		}
		r.Read(fmt.Sprintf("n%d.txt", n))
	}
	if got := len(runs(r)); got != len(names)+1 {
		t.Errorf("%d executions, want %d", got, len(names)+1)
	}
	r.NoSecret()
}

// TestTwoServersOfOneName has two servers with the same name in one database, as two machines of the same name, or two people
// in one folder: the second does not start and says why, and touches nothing of the first's.
func TestTwoServersOfOneName(t *testing.T) {
	t.Parallel()
	url := e2e.Database.Database(t, "same")
	a, other := e2e.NewRig(t), e2e.NewRig(t)
	b := *other
	b.Project = a.Project
	for _, r := range []*e2e.Rig{a, &b} {
		r.KeepIn(url)
	}
	name := once(a, "#slow:15s write kept.txt: it goes on", "--lost", "retry")
	is(a, name, work.Running)
	b.Says(exitcode.Error, []string{"another server that is called", "host ="}, "exec", "list")
	if x := is(a, name, work.Completed); x.Attempt != 1 {
		t.Errorf("%+v", x)
	}
	b.Env = append(b.Env, "ORCHESTRATOR_HOST=second")
	if got := runs(&b); len(got) != 0 {
		t.Errorf("with another name it sees %+v", got)
	}
	b.Run("stop", "--force")
	a.Ok("stop")
	other.Env = b.Env
}
