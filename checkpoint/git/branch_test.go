package git_test

import (
	"path/filepath"
	"testing"

	"orchestrator/checkpoint/git"
	"orchestrator/checkpoint/git/gittest"
)

func TestBranch(t *testing.T) {
	repo, plain := t.TempDir(), t.TempDir()
	run := func(args ...string) { gittest.Run(t, nil, repo, args...) }
	run("init", "-q", "-b", "main")
	run("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
	tree := filepath.Join(t.TempDir(), "tree")
	run("worktree", "add", "-q", "-b", "feature/übung", tree)
	for dir, want := range map[string]string{repo: "main", tree: "feature/übung", plain: "", filepath.Join(repo, "gone"): ""} {
		if got := git.Branch(dir); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
	run("checkout", "-q", "--detach")
	if got := git.Branch(repo); got != "" {
		t.Errorf("detached, it is on %q", got)
	}
}
