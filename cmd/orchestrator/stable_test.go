package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// ofItsOwn gives a rig a program file of its own, which a test may delete or replace.
func (r *rig) ofItsOwn() {
	r.t.Helper()
	r.program = filepath.Join(r.home, "orchestrator")
	r.install(program)
}

// install puts a program where the rig's is, as an upgrade does.
func (r *rig) install(from string) {
	r.t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(r.program+".new", b, 0o755)
	}
	if err == nil {
		err = os.Rename(r.program+".new", r.program)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// TestProgramDeleted does what `go run` does: the file that started the server goes with the first client.
func TestProgramDeleted(t *testing.T) {
	manyStarts(t)
	r := newRig(t)
	r.ofItsOwn()
	first := r.ok("new", "-a", "demo", "first")
	r.awaitState(first, thread.StateIdle)
	if err := os.Remove(r.program); err != nil {
		t.Fatal(err)
	}
	r.program = program
	second := r.ok("new", "-a", "demo", "second")
	r.awaitState(second, thread.StateIdle)
	if out := r.ok("send", second, "hello"); out == "" {
		t.Error("no answer")
	}
	fork := get[thread.Status](r, "fork", "-t", second, "third").Name
	r.awaitState(fork, thread.StateIdle)
	r.ok("stop", first)
	r.ok("resume", first)
	r.awaitState(first, thread.StateIdle)
}

// TestProgramOnAgentsPath runs a shell as an agent and asks it for the program under its names.
func TestProgramOnAgentsPath(t *testing.T) {
	r := newRig(t)
	out := filepath.Join(r.home, "found")
	name := r.ok("new", "-a", "command", "shell", "--", "sh", "-c",
		"orchestrator version > "+out+".1; max version > "+out+".2; touch "+out+"; sleep 60")
	await(t, "the shell's end", func() bool { _, err := os.Stat(out); return err == nil })
	want := r.ok("version")
	for _, f := range []string{out + ".1", out + ".2"} {
		if b, _ := os.ReadFile(f); strings.TrimSpace(string(b)) != want {
			t.Errorf("%s of %s holds %q, and should hold %q", filepath.Base(f), name, b, want)
		}
	}
}

// TestServerInheritsNoFiles: a pipe that the caller left open ends with the client, not with the server.
func TestServerInheritsNoFiles(t *testing.T) {
	r := newRig(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := r.command("threads")
	cmd.ExtraFiles = []*os.File{write}
	err = cmd.Run()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := read.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := read.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server holds the pipe: %v", err)
	}
}

// upgrade puts another build where the rig's program is.
func (r *rig) upgrade() {
	r.t.Helper()
	other := filepath.Join(r.home, "other")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-X=main.unused=1 -s", "-o", other, ".").CombinedOutput(); err != nil {
		r.t.Fatalf("build another one: %v\n%s", err, out)
	}
	r.install(other)
}

// TestRestartOnTheScreen meets a server of another build: the screen asks, leaves it alone unless told otherwise, and
// goes on with the new one and its agents.
func TestRestartOnTheScreen(t *testing.T) {
	manyStarts(t)
	r := newRig(t)
	r.ofItsOwn()
	name := r.demo("one")
	r.turn(name, "hello")
	pid := r.serverPID()
	r.upgrade()
	s := r.open(80, 24)
	s.see("different build", "1 agent will be stopped", "[ Not now ]")
	s.press("\r")
	s.see("ctrl+r restarts the outdated server")
	if r.serverPID() != pid {
		t.Fatal("restarted by a mere return")
	}
	s.press("\x12") // ctrl+r
	s.see("different build", "[ Restart ]")
	s.press("\x1b[C\r") // right, enter
	s.see("Server restarted; 1 agent resumed")
	if r.serverPID() == pid {
		t.Error("the same server runs")
	}
	if st := r.awaitState(name, thread.StateIdle, thread.StateDone); st.Turn != 1 || st.Execution == nil {
		t.Errorf("turn %d, running %v", st.Turn, st.Execution != nil)
	}
	s.press("\r") // into the agent
	s.see("ctrl+q")
	s.press("list files\r")
	s.see("hello.go")
	s.press("\x11")
	s.see("n new")
	s.press("q")
	if code := s.end(); code != exitcode.OK {
		t.Errorf("the screen ended with %d", code)
	}
	if res := r.run("threads"); res.stderr != "" {
		t.Errorf("after the restart: %q", res.stderr)
	}
}

func TestRestartWithAnotherBuild(t *testing.T) {
	manyStarts(t)
	r := newRig(t)
	r.ofItsOwn()
	name := r.ok("new", "-a", "demo", "one")
	r.ok("send", name, "hello")
	r.upgrade()
	if res := r.run("threads"); res.code != 0 || !strings.Contains(res.stderr, "orchestrator restart") {
		t.Errorf("exit %d, stderr %q", res.code, res.stderr)
	}
	if out := r.ok("restart"); !strings.Contains(out, "1 resumed") {
		t.Errorf("restart printed %q", out)
	}
	if res := r.run("threads"); res.stderr != "" {
		t.Errorf("after the restart: %q", res.stderr)
	}
	if s := r.awaitState(name, thread.StateIdle, thread.StateDone); s.Turn != 1 {
		t.Errorf("turn %d", s.Turn)
	}
	copies, err := filepath.Glob(filepath.Join(r.home, ".local", "state", "orchestrator", "bin", "*", "orchestrator"))
	if err != nil || len(copies) != 1 {
		t.Errorf("copies of the program: %q, %v", copies, err)
	}
}
