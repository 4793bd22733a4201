package screens

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestScreen works in the screen as a person does: type to the agent, leave it, leave the program.
func TestScreen(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	for _, size := range [][2]int{{60, 20}, {100, 30}, {200, 50}} {
		name := r.Demo(fmt.Sprintf("size %d", size[0]))
		s := r.Open(size[0], size[1], "attach", name)
		s.See("demo agent", "ctrl+q")
		s.Press("list files\r")
		s.See("hello.go", "README.md")
		r.AwaitState(name, thread.StateIdle, thread.StateDone)
		s.Press("\x11") // ctrl+q
		s.See("n new")
		s.Press("q")
		if code := s.End(); code != exitcode.OK {
			t.Errorf("at %v the program ended with %d:\n%s", size, code, s.Text())
		}
		if st := r.Status(name); st.Turn != 1 || st.Execution == nil {
			t.Errorf("at %v, after leaving: turn %d, running %v", size, st.Turn, st.Execution != nil)
		}
	}
}

// TestFirstRun is what a newcomer sees who has no agent installed.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	bin := filepath.Join(r.Home, "bin") // whatever is installed on this machine, no agent is here
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
	r.Env = append(r.Env, "PATH="+bin)
	s := r.Open(100, 30)
	s.See("No coding agents found", "claude", "Try the demo")
	s.Press("\r")
	s.See("demo agent", "ctrl+q back to threads")
	s.Press("\x11")
	s.See("n new")
	s.Press("q")
	if code := s.End(); code != exitcode.OK {
		t.Errorf("the program ended with %d:\n%s", code, s.Text())
	}
}
