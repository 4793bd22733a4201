package places

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/git"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestMovedProject moves a project with a fork whose worktree lies outside of it: both threads go on in the new place,
// and git in the worktree knows its repository again.
func TestMovedProject(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("parent")
	r.Turn(name, "write notes.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	if git.Within(fork.Worktree.Path, r.Project) {
		t.Errorf("its worktree lies in the project: %s", fork.Worktree.Path)
	}
	r.Turn(fork.Name, "write notes.txt: fork")
	r.Ok("stop")
	moved := filepath.Join(filepath.Dir(r.Project), "moved")
	if err := os.Rename(r.Project, moved); err != nil {
		t.Fatal(err)
	}
	r.Project = moved
	if s := r.Status(name); s.Dir != moved {
		t.Errorf("the parent's folder is %s", s.Dir)
	}
	diff := r.Ok("checkpoint", "diff", fork.Name)
	if !strings.Contains(diff, "notes.txt") {
		t.Errorf("diff:\n%s", diff)
	}
	for _, one := range []string{name, fork.Name} {
		r.Ok("resume", one)
		r.Turn(one, "write notes.txt: again")
	}
	if b, err := os.ReadFile(filepath.Join(moved, "notes.txt")); err != nil || !strings.Contains(string(b), "again") {
		t.Errorf("notes.txt in the new place: %q %v", b, err)
	}
	r.Ok("merge", fork.Name)
}

// TestWorktreesElsewhere sets a folder for worktrees in the person's configuration; a project cannot.
func TestWorktreesElsewhere(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	config := filepath.Join(r.Home, ".config/orchestrator/config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("worktrees = \"~/forks\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := r.Demo("parent")
	r.Turn(name, "write notes.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	if want := filepath.Join(r.Home, "forks", filepath.Base(r.StateDir()), fork.Name); fork.Worktree.Path != want {
		t.Errorf("it lies in %s, not %s", fork.Worktree.Path, want)
	}
	r.Ok("stop", "--force")
	if err := os.WriteFile(config, []byte("worktrees = \""+r.Project+"/forks\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("threads"); got.Code == 0 || !strings.Contains(got.Stderr, "lies in the project") {
		t.Errorf("with worktrees in the project: %+v", got)
	}
}

// TestForkAfterPowerCut empties what a power cut empties of a fork's worktree: after the next start every verb works
// with it.
func TestForkAfterPowerCut(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("parent")
	r.Turn(name, "write notes.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "another way", "-t", name, "--at", "1")
	r.Turn(fork.Name, "write notes.txt: fork")
	r.Ok("stop", "--force")
	part := filepath.Join(r.Project, ".git/worktrees", fork.Name)
	for _, file := range []string{
		filepath.Join(fork.Worktree.Path, ".git"), part + "/HEAD", part + "/commondir", part + "/gitdir", part + "/index",
		filepath.Join(r.Project, ".git/refs/heads", fork.Worktree.Branch), filepath.Join(r.Project, ".git/refs/orchestrator", string(fork.ID), "1"),
	} {
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	diff := r.Run("checkpoint", "diff", fork.Name)
	if diff.Code != 0 || !strings.Contains(diff.Stdout, "notes.txt") {
		t.Errorf("diff: %+v", diff)
	}
	if said := "rebuilt worktree " + fork.Worktree.Path; !strings.Contains(diff.Stderr, said) || !strings.Contains(r.Run("doctor").Stdout, said) {
		t.Errorf("the verb that started the server, or the doctor, does not say what was done:\n%s", diff.Stderr)
	}
	r.Ok("fork", "from the fork", "-t", fork.Name, "--at", "1")
	r.Ok("resume", fork.Name)
	r.Turn(fork.Name, "write more.txt: after")
	r.Ok("checkpoint", "restore", fork.Name, "2")
	if err := os.Remove(filepath.Join(r.Project, "notes.txt")); err != nil { // the parent's, not committed
		t.Fatal(err)
	}
	r.Ok("merge", fork.Name)
	if got := r.Read("notes.txt"); !strings.Contains(got, "fork") {
		t.Errorf("merged: %q", got)
	}
	if bad := r.Git("fsck", "--connectivity-only", "--no-dangling"); bad != "" {
		t.Errorf("git fsck: %s", bad)
	}
}
