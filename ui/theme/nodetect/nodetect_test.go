package nodetect_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"

	_ "orchestrator/ui/field" // brings the clipboard
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

// A program that has text fields starts without a search of PATH for programs that hold the clipboard, and keeps PATH.
func TestNothingIsSearchedAtStart(t *testing.T) {
	if os.Getenv(child) != "" {
		fmt.Printf("PATH %q\n", os.Getenv("PATH"))
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Repeat(t.TempDir()+":", 50) + "/usr/bin"
	cmd := exec.Command(self, "-test.run=^TestNothingIsSearchedAtStart$")
	cmd.Env = []string{child + "=1", "GODEBUG=inittrace=1", "PATH=" + path}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), strconv.Quote(path)) {
		t.Errorf("PATH has changed: %s", out)
	}
	found := regexp.MustCompile(`init github.com/atotto/clipboard .* (\d+) allocs`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("the clipboard is not initialised: %s", out)
	}
	if n, _ := strconv.Atoi(string(found[1])); n > 50 {
		t.Errorf("%d allocations: it searched the %d folders of PATH", n, 51)
	}
}
