package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestScreen works in the screen as a person does: type to the agent, leave it, leave the program.
func TestScreen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, size := range [][2]int{{60, 20}, {100, 30}, {200, 50}} {
		name := r.demo(fmt.Sprintf("size %d", size[0]))
		s := r.open(size[0], size[1], "attach", name)
		s.see("demo agent", "ctrl+q")
		s.press("list files\r")
		s.see("hello.go", "README.md")
		r.awaitState(name, thread.StateIdle, thread.StateDone)
		s.press("\x11") // ctrl+q
		s.see("n new")
		s.press("q")
		if code := s.end(); code != exitcode.OK {
			t.Errorf("at %v the program ended with %d:\n%s", size, code, s.text())
		}
		if st := r.status(name); st.Turn != 1 || st.Execution == nil {
			t.Errorf("at %v, after leaving: turn %d, running %v", size, st.Turn, st.Execution != nil)
		}
	}
}

// TestFirstRun is what a newcomer sees who has no agent installed.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bin := filepath.Join(r.home, "bin") // whatever is installed on this machine, no agent is here
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git", "sh"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r.env = append(r.env, "PATH="+bin)
	s := r.open(100, 30)
	s.see("No coding agents found", "claude", "Try the demo")
	s.press("\r")
	s.see("demo agent", "ctrl+q back to threads")
	s.press("\x11")
	s.see("n new")
	s.press("q")
	if code := s.end(); code != exitcode.OK {
		t.Errorf("the program ended with %d:\n%s", code, s.text())
	}
}
