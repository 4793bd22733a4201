package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestForkCanWork: a fork has the ignored files that the project names, and what its setup made, before its agent
// starts; a script that changed is asked about again.
func TestForkCanWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".gitignore", "*.env\ndeps/\n")
	r.write(".worktreeinclude", "*.env\n")
	r.write("tools/setup.sh", "mkdir deps && cp hello.go deps/made\n")
	r.write(".orchestrator.toml", "setup = \"sh tools/setup.sh\"\nteardown = \"touch "+filepath.Join(r.home, "torn-down")+"\"\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "a project with a setup")
	r.write("local.env", "KEY=1\n")
	out := r.ok("trust")
	for _, want := range []string{"sh tools/setup.sh", `file "tools/setup.sh"`, "teardown", "not covered"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	name := r.demo()
	r.turn(name, "write a.txt: words")
	fork := get[thread.Thread](r, "fork", "other way", "-t", name)
	for _, file := range []string{"local.env", "deps/made", "a.txt"} {
		if _, err := os.Stat(filepath.Join(fork.Worktree.Path, file)); err != nil {
			t.Errorf("the fork lacks a file: %v", err)
		}
	}
	r.ok("stop", fork.Name)
	if err := os.RemoveAll(fork.Worktree.Path); err != nil {
		t.Fatal(err)
	}
	r.ok("resume", fork.Name)
	for _, file := range []string{"local.env", "deps/made"} {
		if _, err := os.Stat(filepath.Join(fork.Worktree.Path, file)); err != nil {
			t.Errorf("the worktree that was made again lacks a file: %v", err)
		}
	}
	r.awaitState(fork.Name, thread.StateIdle, thread.StateDone)
	r.ok("finish", fork.Name)
	if _, err := os.Stat(filepath.Join(r.home, "torn-down")); err != nil {
		t.Errorf("teardown: %v", err)
	}
	r.write("tools/setup.sh", "touch changed\n")
	r.turn(name, "list files")
	fork = get[thread.Thread](r, "fork", "third way", "-t", name)
	if _, err := os.Stat(filepath.Join(fork.Worktree.Path, "deps")); err == nil {
		t.Error("a changed script was taken for the accepted one")
	}
	if _, err := os.Stat(filepath.Join(fork.Worktree.Path, "changed")); err == nil {
		t.Error("a changed script ran")
	}
}
