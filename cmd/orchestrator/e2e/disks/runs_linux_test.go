package disks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// runs are the executions, the newest first.
func runs(r *e2e.Rig) []work.Execution {
	r.T.Helper()
	return e2e.Get[[]work.Execution](r, "exec", "list", "--limit", "1000")
}

// is waits for a state of an execution.
func is(r *e2e.Rig, name string, want ...work.State) (x work.Execution) {
	r.T.Helper()
	for begin := time.Now(); time.Since(begin) < e2e.Patience; time.Sleep(50 * time.Millisecond) {
		for _, x = range runs(r) {
			if x.Name != name {
				continue
			}
			if slices.Contains(want, x.State) {
				return x
			}
			break
		}
	}
	r.T.Fatalf("%s is %s (%s), want %v", name, x.State, x.Reason, want)
	return x
}

// TestRunsOnAFullDisk fills the disk at any moment of a run, between any two of its rows. Nothing of it is claimed that is
// not stored; once there is room it ends by itself, once, with what it cost.
func TestRunsOnAFullDisk(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	disk := r.StateDisk(0)
	submit := func(prompt string, flags ...string) e2e.Result {
		return r.Run(append([]string{"run", "--once", "-d", "-a", "demo", "--permission-mode", "auto", "--no-worktree", prompt}, flags...)...)
	}
	first := submit("say hello")
	is(r, strings.TrimSpace(first.Stdout), work.Completed)

	t.Log("full while it works, at different moments")
	for n := range e2e.FromEnv(t, "FULL_ROUNDS", 6) {
		res := submit(fmt.Sprintf("#slow:1s write n%d.txt: it is %d", n, n))
		name := strings.TrimSpace(res.Stdout)
		time.Sleep(time.Duration(n) * 250 * time.Millisecond) // the point is that it comes between any two rows
		free := r.Cram(disk)
		time.Sleep(1500 * time.Millisecond) // it would have ended
		for _, x := range runs(r) {
			if x.Name == name && x.State == work.Completed && r.Status(string(x.Thread)).Turn == 0 {
				t.Errorf("%s is completed, and its answer is not stored", name)
			}
		}
		free()
		x := is(r, name, work.Completed, work.Failed)
		s := r.Status(string(x.Thread))
		t.Logf("round %d: %s %s, turn %d", n, x.State, x.Reason, s.Turn)
		if x.State == work.Completed && (s.Turn != 1 || x.Usage.Output == 0 || x.Usage.Output > s.Usage.Output) {
			t.Errorf("%s: %s (%s): turn %d, it counted %+v, its thread %+v", name, x.State, x.Reason, s.Turn, x.Usage, s.Usage)
		}
		if x.State == work.Failed && x.Reason == "" {
			t.Errorf("%s failed without a reason", name)
		}
	}

	t.Log("a run that is asked for is refused, with the reason, and is none")
	before := len(runs(r))
	frees := []func(){r.Cram(disk)}
	var accepted []string
	for range 3 {
		res := submit("say hello")
		if res.Code == 0 { // there was room for a row
			frees = append(frees, r.Cram(disk))
			accepted = append(accepted, strings.TrimSpace(res.Stdout))
			continue
		}
		if res.Code != exitcode.Error || !strings.Contains(res.Stderr, "disk is full") {
			t.Errorf("exit %d: %s", res.Code, res.Stderr)
		}
	}
	for _, free := range frees {
		free()
	}
	for _, name := range accepted {
		is(r, name, work.Completed)
	}
	for _, x := range runs(r)[:len(runs(r))-before] {
		if x = is(r, x.Name, work.Completed, work.Failed, work.Cancelled); x.State == work.Completed && !slices.Contains(accepted, x.Name) {
			t.Errorf("%s ran, though it was refused", x.Name)
		}
	}

	t.Log("cancelled on a full disk, its process goes at once, its row when there is room")
	sleeper := func(flags ...string) string { // it writes nothing itself
		args := append([]string{"run", "--once", "-d", "-a", "command", "--no-worktree"}, flags...)
		return r.Ok(append(args, "do it", "--", "/bin/sh", "-c", "read -r p; exec sleep 300")...)
	}
	name := sleeper()
	id := r.Status(string(is(r, name, work.Running).Thread)).ID
	free := r.Cram(disk)
	res := r.Run("exec", "cancel", name)
	if res.Code != 0 && !strings.Contains(res.Stderr, "process is ended") {
		t.Errorf("cancel: exit %d: %s", res.Code, res.Stderr)
	}
	e2e.Await(t, "its process to go", func() bool {
		return r.Status(string(id)).Execution == nil || r.Status(string(id)).State.State == thread.StateExited
	})
	free()
	is(r, name, work.Cancelled)

	t.Log("killed on a full disk, and started on it")
	name = sleeper("--lost", "retry")
	is(r, name, work.Running)
	free = r.Cram(disk)
	r.KillAll()
	more := r.Cram(disk)
	if res := r.Run("exec", "list"); res.Code != 0 || !strings.Contains(res.Stdout, name) {
		t.Errorf("on a full disk: exit %d: %s%s", res.Code, res.Stdout, res.Stderr)
	}
	more()
	free()
	e2e.Await(t, "its second attempt", func() bool {
		x := is(r, name, work.Running, work.Queued, work.Deployed)
		return x.State == work.Running && x.Attempt == 2
	})
	r.Ok("exec", "cancel", name)
	is(r, name, work.Cancelled)
}
