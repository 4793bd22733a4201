package places

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestGitAtTheStart counts the processes of git that a start with nothing stored waits for: one of the client and one of
// the server, which ask whether the repository may be used.
func TestGitAtTheStart(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, calls := filepath.Join(r.Home, "bin"), filepath.Join(r.Home, "calls")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", calls, real)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, e := range r.Env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			r.Env[i] = "PATH=" + bin + string(os.PathListSeparator) + path
		}
	}
	for range 2 { // the first one makes the state
		if err := os.WriteFile(calls, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r.Ok("threads")
		made, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(string(made)), "\n"); len(lines) > 2 || !strings.Contains(lines[0], "rev-parse") {
			t.Errorf("a start runs git %d times:\n%s", len(lines), made)
		}
		r.Ok("stop")
	}
}
