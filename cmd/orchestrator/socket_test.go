package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// without is the same person where a variable is not set, as in a job of cron.
func (r *rig) without(name string) *rig {
	other := *r
	other.env = slices.DeleteFunc(slices.Clone(r.env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return &other
}

// TestAnyEnvironmentFindsTheServer: a job of cron, which has no folder for sockets, and a login, which has one.
func TestAnyEnvironmentFindsTheServer(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	login := newRig(t)
	cron := login.without("XDG_RUNTIME_DIR")
	quick := func(r *rig, args ...string) {
		t.Helper()
		begin := time.Now()
		r.ok(args...)
		if took := time.Since(begin); took > startLimit/3 {
			t.Errorf("%q took %v", args, took)
		}
	}
	for _, order := range [][2]*rig{{login, cron}, {cron, login}} {
		first, second := order[0], order[1]
		name := first.demo("hello")
		pid := first.serverPID()
		quick(second, "threads")
		second.turn(name, "list files")
		if second.serverPID() != pid {
			t.Error("another server answers")
		}
		if res := second.run("doctor"); !strings.Contains(res.stdout, fmt.Sprintf("process %d,", pid)) {
			t.Errorf("the doctor does not see it:\n%s", res.stdout)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		quick(second, "threads")
		quick(first, "threads")
		quick(first, "stop")
		if out := second.ok("stop"); !strings.Contains(out, "no server is running") {
			t.Errorf("after the other's stop: %s", out)
		}
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() { quick([]*rig{login, cron}[i%2], "threads") })
	}
	all.Wait()
	if login.serverPID() != cron.serverPID() {
		t.Error("there are two servers")
	}
}

// TestServerOutlivesTheLogin: the folder of the socket goes with the last login; agents go on, and are reached from the
// next login and from where there is none.
func TestServerOutlivesTheLogin(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("hello")
	s := r.open(100, 30)
	s.see(name)
	pid := r.serverPID()
	run := lookup(r.env, "XDG_RUNTIME_DIR")
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	cron := r.without("XDG_RUNTIME_DIR")
	cron.turn(name, "write n.txt: still")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if st := r.awaitState(name, thread.StateIdle, thread.StateDone); st.Turn != 1 || r.serverPID() != pid {
		t.Errorf("turn %d, server %d, was %d", st.Turn, r.serverPID(), pid)
	}
	s.press("\t") // what the open screen asks for now goes over a connection of its own
	s.see("still")
	s.press("\x11q")
	if code := s.end(); code != exitcode.OK {
		t.Errorf("the screen ended with %d", code)
	}
	r.ok("stop")
}

// TestStopSaysWhoHoldsTheProject where that cannot be reached, and does not say that nothing runs.
func TestStopSaysWhoHoldsTheProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lock, err := r.claimed().Lock()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	me := fmt.Sprintf("process %d", os.Getpid())
	r.says(exitcode.Refused, []string{me, "cannot be reached", "stop --force"}, "stop")
	if res := r.run("doctor"); res.code != exitcode.Error || !strings.Contains(res.stdout, me) || !strings.Contains(res.stdout, "stop --force") {
		t.Errorf("the doctor said (exit %d):\n%s", res.code, res.stdout)
	}
	go func() {
		time.Sleep(healLimit / 5)
		lock.Close()
	}()
	if out := r.ok("stop"); !strings.Contains(out, "no server is running") {
		t.Errorf("once it has ended: %s", out)
	}
}
