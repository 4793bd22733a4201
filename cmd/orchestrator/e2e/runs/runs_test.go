package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// long is a prompt that the demo agent works on for minutes.
const long = "count to 20000"

// runIt submits a run of the demo agent and returns its name.
func runIt(r *e2e.Rig, prompt string, flags ...string) string {
	r.T.Helper()
	args := append([]string{"run", "--once", "-d", "-a", "demo", "--permission-mode", "auto"}, flags...)
	return strings.TrimSpace(r.Ok(append(args, prompt)...))
}

func list(r *e2e.Rig) []work.Execution {
	r.T.Helper()
	return e2e.Get[[]work.Execution](r, "exec", "list", "--json")
}

func show(r *e2e.Rig, name string) work.Execution {
	r.T.Helper()
	for _, x := range list(r) {
		if x.Name == name {
			return x
		}
	}
	r.T.Fatalf("no execution %s", name)
	return work.Execution{}
}

// becomes waits until an execution is in one of some states.
func becomes(r *e2e.Rig, name string, want ...work.State) (x work.Execution) {
	r.T.Helper()
	e2e.Await(r.T, fmt.Sprintf("%s to be %v", name, want), func() bool {
		x = show(r, name)
		if x.State.Final() && !slices.Contains(want, x.State) {
			r.T.Fatalf("%s is %s: %s", name, x.State, x.Reason)
		}
		return slices.Contains(want, x.State)
	})
	return x
}

// nameOf returns the name of an execution's thread.
func nameOf(r *e2e.Rig, x work.Execution) string {
	r.T.Helper()
	for _, s := range e2e.Get[[]thread.Status](r, "threads", "--json") {
		if s.ID == x.Thread {
			return s.Name
		}
	}
	r.T.Fatalf("no thread of %s", x.Name)
	return ""
}

// processes are those of runs of the rig's threads.
func processes(r *e2e.Rig) (found []string) {
	r.T.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file) // of one that ended there is none
		if bytes.Contains(line, []byte("--headless")) && bytes.Contains(line, []byte(r.Home)) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func nothingLeft(r *e2e.Rig) {
	r.T.Helper()
	if left := processes(r); len(left) > 0 {
		r.T.Errorf("left running: %q", left)
	}
}

// TestRunStreams: a run prints the answer, ends, and is a thread with a turn like any other.
func TestRunStreams(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	res := r.Run("run", "--once", "-a", "demo", "--permission-mode", "auto", "write notes.txt: buy milk")
	if res.Code != 0 || res.Stdout == "" {
		t.Fatalf("exit %d: %s%s", res.Code, res.Stdout, res.Stderr)
	}
	nothingLeft(r)
	x := list(r)[0]
	if x.State != work.Completed || x.Name != "exec-001" || x.Usage.Output == 0 {
		t.Errorf("%+v", x)
	}
	s := r.Status(nameOf(r, x))
	if s.Turn != 1 || s.Execution != nil || s.Usage.Output != x.Usage.Output || s.Run == nil || s.Run.State != "completed" {
		t.Errorf("turn %d, %+v, the thread used %+v, the execution %+v", s.Turn, s.Run, s.Usage, x.Usage)
	}
	if b, err := os.ReadFile(filepath.Join(s.Dir, "notes.txt")); err != nil || !strings.Contains(string(b), "milk") {
		t.Errorf("notes.txt: %q, %v", b, err)
	}
	// The next prompt is its next run, in the same conversation.
	if out := r.Ok("send", s.Name, "what did I ask before?"); !strings.Contains(out, "buy milk") {
		t.Errorf("the next run does not know the first one: %s", out)
	}
	if x := list(r)[0]; x.Name != "exec-002" || x.State != work.Completed {
		t.Errorf("%+v", x)
	}
}

// TestRunCancelled: within a second nothing is left of a run that is cancelled; twice at once is once, and one that has
// ended cannot be.
func TestRunCancelled(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := runIt(r, long)
	becomes(r, name, work.Running)
	e2e.Await(t, "its process", func() bool { return len(processes(r)) > 0 })
	begin := time.Now()
	done := make(chan e2e.Result, 2)
	for range 2 {
		go func() { done <- r.Run("exec", "cancel", name) }()
	}
	first, second := <-done, <-done
	if first.Code != 0 && second.Code != 0 {
		t.Errorf("cancel: %s, %s", first.Stderr, second.Stderr)
	}
	for len(processes(r)) > 0 && time.Since(begin) < 20*time.Second {
		time.Sleep(5 * time.Millisecond)
	}
	if took := time.Since(begin); took > 3*time.Second { // a second, and the start of two programs on a busy machine
		t.Errorf("its process ended after %v", took)
	}
	nothingLeft(r)
	x := becomes(r, name, work.Cancelled)
	e2e.Await(t, "its thread to be at rest", func() bool { return r.Status(nameOf(r, x)).Execution == nil })
	if again := r.Run("exec", "cancel", runDone(r)); again.Code == 0 {
		t.Error("a run that has completed was cancelled")
	}
}

// runDone runs something short and returns its name.
func runDone(r *e2e.Rig) string {
	r.T.Helper()
	name := runIt(r, "hello")
	becomes(r, name, work.Completed)
	return name
}

// TestRunDeadline: a run whose time is over has failed, and nothing is left of it.
func TestRunDeadline(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := runIt(r, long, "--deadline", "2s")
	x := becomes(r, name, work.Failed)
	e2e.Await(t, "its process to end", func() bool { return len(processes(r)) == 0 })
	if !strings.Contains(x.Reason, "was over; give it more") {
		t.Errorf("it failed because %q", x.Reason)
	}
}

// TestQueueOverRestart: what waits says why, holds the server up and goes on after a restart; what ran is lost and asks.
func TestQueueOverRestart(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=1")
	first := runIt(r, long)
	becomes(r, first, work.Running)
	second := runIt(r, "hello", "--no-worktree")
	if x := show(r, second); x.State != work.Queued || !strings.Contains(x.Reason, "1 of 1") {
		t.Errorf("%s waits because %q", x.State, x.Reason)
	}
	r.Ok("stop")
	nothingLeft(r)
	becomes(r, second, work.Completed)
	x := becomes(r, first, work.Lost)
	if s := r.Status(nameOf(r, x)); s.Group() != thread.GroupNeedsYou || s.Interrupted {
		t.Errorf("it is in %s: %+v", s.Group(), s.State)
	}
	r.Ok("exec", "resume", first)
	if x = becomes(r, first, work.Completed); x.Attempt != 2 {
		t.Errorf("attempt %d", x.Attempt)
	}
}

// TestTakeOver: a person opens the agent's own screen on a run's session, and gives it back; every request has the whole
// history.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := runIt(r, "write one.txt: first")
	s := r.Status(nameOf(r, becomes(r, name, work.Completed)))
	r.Ok("resume", s.Name)
	r.AwaitState(s.Name, thread.StateIdle, thread.StateDone)
	if out := r.Ok("send", s.Name, "write two.txt: second"); out == "" {
		t.Error("no answer in the terminal")
	}
	if list := list(r); len(list) != 1 {
		t.Errorf("a prompt in the terminal became an execution: %+v", list[0])
	}
	r.Ok("stop", s.Name)
	out := r.Ok("send", s.Name, "what did I ask before?")
	for _, said := range []string{"first", "second"} {
		if !strings.Contains(out, said) {
			t.Errorf("the run after it does not know %q: %s", said, out)
		}
	}
	if list := list(r); list[0].Name != "exec-002" || list[0].State != work.Completed {
		t.Errorf("%+v", list[0])
	}
	busy := runIt(r, long)
	x := becomes(r, busy, work.Running)
	if res := r.Run("resume", nameOf(r, x)); res.Code == 0 || !strings.Contains(res.Stderr, busy) {
		t.Errorf("opened while it works: %d %s", res.Code, res.Stderr)
	}
}

// TestForkOfRun: a run that has ended is forked at a turn, as another run.
func TestForkOfRun(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := runIt(r, "write one.txt: first")
	s := r.Status(nameOf(r, becomes(r, name, work.Completed)))
	r.Ok("send", s.Name, "write two.txt: second")
	out := r.Ok("fork", "other", "-t", s.Name, "--at", "1", "--once", "-p", "what did I ask before?")
	x := list(r)[0]
	x = becomes(r, x.Name, work.Completed)
	if !strings.Contains(x.Answer, "first") || strings.Contains(x.Answer, "second") {
		t.Errorf("the fork knows %q (%s)", x.Answer, out)
	}
}

// TestEightRuns: eight runs at once all end with their answers, each in its own worktree. Nothing is left but their
// branches, which have the work.
func TestEightRuns(t *testing.T) {
	t.Parallel()
	r := e2e.NewRigApart(t)
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_PARALLEL=8")
	var names []string
	for n := range 8 {
		names = append(names, runIt(r, fmt.Sprintf("write n%d.txt: it is %d", n, n), "--dispose", "branch"))
	}
	dirs := map[string]bool{}
	for n, name := range names {
		s := r.Status(nameOf(r, becomes(r, name, work.Completed)))
		dirs[s.Dir] = true
		e2e.Await(t, "the end of its worktree", func() bool {
			_, err := os.Stat(s.Dir)
			return errors.Is(err, fs.ErrNotExist)
		})
		file := fmt.Sprintf("n%d.txt", n)
		if got := r.Git("show", s.Worktree.Branch+":"+file); !strings.Contains(got, fmt.Sprint("it is ", n)) {
			t.Errorf("the branch has %q in %s", got, file)
		}
	}
	nothingLeft(r)
	if len(dirs) != 8 || dirs[r.Project] {
		t.Errorf("they worked in %v", dirs)
	}
}
