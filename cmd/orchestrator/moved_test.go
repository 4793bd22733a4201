package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// TestMovedProject moves a project with a fork whose worktree lies outside of it: both threads go on in the new place,
// and git in the worktree knows its repository again.
func TestMovedProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("parent")
	r.turn(name, "write notes.txt: one")
	fork := get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	if git.Within(fork.Worktree.Path, r.project) {
		t.Errorf("its worktree lies in the project: %s", fork.Worktree.Path)
	}
	r.turn(fork.Name, "write notes.txt: fork")
	r.ok("stop")
	moved := filepath.Join(filepath.Dir(r.project), "moved")
	if err := os.Rename(r.project, moved); err != nil {
		t.Fatal(err)
	}
	r.project = moved
	if s := r.status(name); s.Dir != moved {
		t.Errorf("the parent's folder is %s", s.Dir)
	}
	diff := r.ok("checkpoint", "diff", fork.Name)
	if !strings.Contains(diff, "notes.txt") {
		t.Errorf("diff:\n%s", diff)
	}
	for _, one := range []string{name, fork.Name} {
		r.ok("resume", one)
		r.turn(one, "write notes.txt: again")
	}
	if b, err := os.ReadFile(filepath.Join(moved, "notes.txt")); err != nil || !strings.Contains(string(b), "again") {
		t.Errorf("notes.txt in the new place: %q %v", b, err)
	}
	r.ok("merge", fork.Name)
}

// TestWorktreesElsewhere sets a folder for worktrees in the person's configuration; a project cannot.
func TestWorktreesElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	config := filepath.Join(r.home, ".config/orchestrator/config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("worktrees = \"~/forks\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := r.demo("parent")
	r.turn(name, "write notes.txt: one")
	fork := get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	if want := filepath.Join(r.home, "forks", filepath.Base(r.stateDir()), fork.Name); fork.Worktree.Path != want {
		t.Errorf("it lies in %s, not %s", fork.Worktree.Path, want)
	}
	r.ok("stop", "--force")
	if err := os.WriteFile(config, []byte("worktrees = \""+r.project+"/forks\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.run("threads"); got.code == 0 || !strings.Contains(got.stderr, "lies in the project") {
		t.Errorf("with worktrees in the project: %+v", got)
	}
}

// TestForkAfterPowerCut empties what a power cut empties of a fork's worktree: after the next start every verb works
// with it.
func TestForkAfterPowerCut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("parent")
	r.turn(name, "write notes.txt: one")
	fork := get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	r.turn(fork.Name, "write notes.txt: fork")
	r.ok("stop", "--force")
	part := filepath.Join(r.project, ".git/worktrees", fork.Name)
	for _, file := range []string{
		filepath.Join(fork.Worktree.Path, ".git"), part + "/HEAD", part + "/commondir", part + "/gitdir", part + "/index",
		filepath.Join(r.project, ".git/refs/heads", fork.Worktree.Branch), filepath.Join(r.project, ".git/refs/orchestrator", string(fork.ID), "1"),
	} {
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	diff := r.run("checkpoint", "diff", fork.Name)
	if diff.code != 0 || !strings.Contains(diff.stdout, "notes.txt") {
		t.Errorf("diff: %+v", diff)
	}
	if said := "rebuilt worktree " + fork.Worktree.Path; !strings.Contains(diff.stderr, said) || !strings.Contains(r.run("doctor").stdout, said) {
		t.Errorf("the verb that started the server, or the doctor, does not say what was done:\n%s", diff.stderr)
	}
	r.ok("fork", "from the fork", "-t", fork.Name, "--at", "1")
	r.ok("resume", fork.Name)
	r.turn(fork.Name, "write more.txt: after")
	r.ok("checkpoint", "restore", fork.Name, "2")
	if err := os.Remove(filepath.Join(r.project, "notes.txt")); err != nil { // the parent's, not committed
		t.Fatal(err)
	}
	r.ok("merge", fork.Name)
	if got := r.read("notes.txt"); !strings.Contains(got, "fork") {
		t.Errorf("merged: %q", got)
	}
	if bad := r.git("fsck", "--connectivity-only", "--no-dangling"); bad != "" {
		t.Errorf("git fsck: %s", bad)
	}
}
