package restarts

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// ofItsOwn gives a rig a program file of its own, which a test may delete or replace.
func ofItsOwn(r *e2e.Rig) {
	r.T.Helper()
	r.Program = filepath.Join(r.Home, "orchestrator")
	install(r, e2e.Program)
}

// install puts a program where the rig's is, as an upgrade does.
func install(r *e2e.Rig, from string) {
	r.T.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(r.Program+".new", b, 0o755)
	}
	if err == nil {
		err = os.Rename(r.Program+".new", r.Program)
	}
	if err != nil {
		r.T.Fatal(err)
	}
}

// TestProgramDeleted does what `go run` does: the file that started the server goes with the first client.
func TestProgramDeleted(t *testing.T) {
	e2e.ManyStarts(t)
	r := e2e.NewRig(t)
	ofItsOwn(r)
	first := r.Ok("new", "-a", "demo", "first")
	r.AwaitState(first, thread.StateIdle)
	if err := os.Remove(r.Program); err != nil {
		t.Fatal(err)
	}
	r.Program = e2e.Program
	second := r.Ok("new", "-a", "demo", "second")
	r.AwaitState(second, thread.StateIdle)
	if out := r.Ok("send", second, "hello"); out == "" {
		t.Error("no answer")
	}
	fork := e2e.Get[thread.Status](r, "fork", "-t", second, "third").Name
	r.AwaitState(fork, thread.StateIdle)
	r.Ok("stop", first)
	r.Ok("resume", first)
	r.AwaitState(first, thread.StateIdle)
}

// TestProgramOnAgentsPath runs a shell as an agent and asks it for the program under its names.
func TestProgramOnAgentsPath(t *testing.T) {
	r := e2e.NewRig(t)
	out := filepath.Join(r.Home, "found")
	name := r.Ok("new", "-a", "command", "shell", "--", "sh", "-c",
		"orchestrator version > "+out+".1; max version > "+out+".2; touch "+out+"; sleep 60")
	e2e.Await(t, "the shell's end", func() bool { _, err := os.Stat(out); return err == nil })
	want := r.Ok("version")
	for _, f := range []string{out + ".1", out + ".2"} {
		if b, _ := os.ReadFile(f); strings.TrimSpace(string(b)) != want {
			t.Errorf("%s of %s holds %q, and should hold %q", filepath.Base(f), name, b, want)
		}
	}
}

// TestServerInheritsNoFiles: a pipe that the caller left open ends with the client, not with the server.
func TestServerInheritsNoFiles(t *testing.T) {
	r := e2e.NewRig(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := r.Command("threads")
	cmd.ExtraFiles = []*os.File{write}
	err = cmd.Run()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := read.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := read.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server holds the pipe: %v", err)
	}
}

// upgrade puts another build where the rig's program is.
func upgrade(r *e2e.Rig) {
	r.T.Helper()
	other := filepath.Join(r.Home, "other")
	if err := e2e.Build(other, "-ldflags=-X=main.unused=1 -s"); err != nil {
		r.T.Fatalf("build another one: %v", err)
	}
	install(r, other)
}

// TestRestartOnTheScreen meets a server of another build: the screen asks, leaves it alone unless told otherwise, and
// goes on with the new one and its agents.
func TestRestartOnTheScreen(t *testing.T) {
	e2e.ManyStarts(t)
	r := e2e.NewRig(t)
	ofItsOwn(r)
	name := r.Demo("one")
	r.Turn(name, "hello")
	pid := r.ServerPID()
	upgrade(r)
	s := r.Open(80, 24)
	s.See("another build", "1 agent restarts.", "[ Not now ]")
	s.Press("\r")
	s.See("ctrl+r restarts the outdated server")
	if r.ServerPID() != pid {
		t.Fatal("restarted by a mere return")
	}
	s.Press("\x12") // ctrl+r
	s.See("another build", "[ Restart ]")
	s.Press("\x1b[C\r") // right, enter
	s.See("Server restarted; 1 agent resumed")
	if r.ServerPID() == pid {
		t.Error("the same server runs")
	}
	if st := r.AwaitState(name, thread.StateIdle, thread.StateDone); st.Turn != 1 || st.Execution == nil {
		t.Errorf("turn %d, running %v", st.Turn, st.Execution != nil)
	}
	s.Press("\r") // into the agent
	s.See("ctrl+q")
	s.Press("list files\r")
	s.See("hello.go")
	s.Press("\x11")
	s.See("n new")
	s.Press("q")
	if code := s.End(); code != exitcode.OK {
		t.Errorf("the screen ended with %d", code)
	}
	if res := r.Run("threads"); res.Stderr != "" {
		t.Errorf("after the restart: %q", res.Stderr)
	}
}

func TestRestartWithAnotherBuild(t *testing.T) {
	e2e.ManyStarts(t)
	r := e2e.NewRig(t)
	ofItsOwn(r)
	name := r.Ok("new", "-a", "demo", "one")
	r.Ok("send", name, "hello")
	upgrade(r)
	if res := r.Run("threads"); res.Code != 0 || !strings.Contains(res.Stderr, "orchestrator restart") {
		t.Errorf("exit %d, stderr %q", res.Code, res.Stderr)
	}
	if out := r.Ok("restart"); !strings.Contains(out, "1 resumed") {
		t.Errorf("restart printed %q", out)
	}
	if res := r.Run("threads"); res.Stderr != "" {
		t.Errorf("after the restart: %q", res.Stderr)
	}
	if s := r.AwaitState(name, thread.StateIdle, thread.StateDone); s.Turn != 1 {
		t.Errorf("turn %d", s.Turn)
	}
	copies, err := filepath.Glob(filepath.Join(r.Home, ".local", "state", "orchestrator", "bin", "*", "orchestrator"))
	if err != nil || len(copies) != 1 {
		t.Errorf("copies of the program: %q, %v", copies, err)
	}
}
