package restarts

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// without is the same person where a variable is not set, as in a job of cron.
func without(r *e2e.Rig, name string) *e2e.Rig {
	other := *r
	other.Env = slices.DeleteFunc(slices.Clone(r.Env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return &other
}

// TestAnyEnvironmentFindsTheServer: a job of cron, which has no folder for sockets, and a login, which has one.
func TestAnyEnvironmentFindsTheServer(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	login := e2e.NewRig(t)
	cron := without(login, "XDG_RUNTIME_DIR")
	quick := func(r *e2e.Rig, args ...string) {
		t.Helper()
		begin := time.Now()
		r.Ok(args...)
		if took := time.Since(begin); took > e2e.StartLimit/3 {
			t.Errorf("%q took %v", args, took)
		}
	}
	for _, order := range [][2]*e2e.Rig{{login, cron}, {cron, login}} {
		first, second := order[0], order[1]
		name := first.Demo("hello")
		pid := first.ServerPID()
		quick(second, "threads")
		second.Turn(name, "list files")
		if second.ServerPID() != pid {
			t.Error("another server answers")
		}
		if res := second.Run("doctor"); !strings.Contains(res.Stdout, fmt.Sprintf("process %d,", pid)) {
			t.Errorf("the doctor does not see it:\n%s", res.Stdout)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		quick(second, "threads")
		quick(first, "threads")
		quick(first, "stop")
		if out := second.Ok("stop"); !strings.Contains(out, "no server is running") {
			t.Errorf("after the other's stop: %s", out)
		}
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() { quick([]*e2e.Rig{login, cron}[i%2], "threads") })
	}
	all.Wait()
	if login.ServerPID() != cron.ServerPID() {
		t.Error("there are two servers")
	}
}

// TestServerOutlivesTheLogin: the folder of the socket goes with the last login; agents go on, and are reached from the
// next login and from where there is none.
func TestServerOutlivesTheLogin(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("hello")
	s := r.Open(100, 30)
	s.See(name[:len(name)-5])
	pid := r.ServerPID()
	run := thread.Lookup(r.Env, "XDG_RUNTIME_DIR")
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	cron := without(r, "XDG_RUNTIME_DIR")
	cron.Turn(name, "write n.txt: still")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if st := r.AwaitState(name, thread.StateIdle, thread.StateDone); st.Turn != 1 || r.ServerPID() != pid {
		t.Errorf("turn %d, server %d, was %d", st.Turn, r.ServerPID(), pid)
	}
	s.Press("\t") // what the open screen asks for now goes over a connection of its own
	s.See("still")
	s.Press("\x11q")
	if code := s.End(); code != exitcode.OK {
		t.Errorf("the screen ended with %d", code)
	}
	r.Ok("stop")
}

// TestStopSaysWhoHoldsTheProject where that cannot be reached, and does not say that nothing runs.
func TestStopSaysWhoHoldsTheProject(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	lock, err := r.Claimed().Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	me := fmt.Sprintf("process %d", os.Getpid())
	r.Says(exitcode.Refused, []string{me, "cannot be reached", "stop --force"}, "stop")
	if res := r.Run("doctor"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, me) || !strings.Contains(res.Stdout, "stop --force") {
		t.Errorf("the doctor said (exit %d):\n%s", res.Code, res.Stdout)
	}
	go func() {
		time.Sleep(e2e.HealLimit / 5)
		lock.Close()
	}()
	if out := r.Ok("stop"); !strings.Contains(out, "no server is running") {
		t.Errorf("once it has ended: %s", out)
	}
}
