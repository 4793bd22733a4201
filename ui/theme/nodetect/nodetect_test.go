package nodetect_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"orchestrator/ui/theme"
)

const child = "NODETECT_CHILD"

// A program that has styles starts on a terminal inside tmux without asking tmux, and keeps its environment.
func TestNothingIsRunAtStart(t *testing.T) {
	if os.Getenv(child) != "" {
		fmt.Printf("tokens %v, tmux %q\n", theme.New(0, true) != nil, os.Getenv("TMUX"))
		return
	}
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	script := []byte("#!/bin/sh\n: > " + asked + "\n")
	if err := os.WriteFile(filepath.Join(dir, "tmux"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestNothingIsRunAtStart$")
	cmd.Env = []string{child + "=1", "TMUX=/tmp/some,1,0", "TERM=xterm-256color", "PATH=" + dir + ":/usr/bin:/bin"}
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // ends in an error when the program has ended
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), `tmux "/tmp/some,1,0"`) {
		t.Errorf("the environment has changed: %s", out)
	}
	if _, err := os.Stat(asked); err == nil {
		t.Error("tmux was run")
	}
}
