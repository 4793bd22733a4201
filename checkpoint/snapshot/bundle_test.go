package snapshot_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
)

// repository makes one with a commit and a store for it.
func bundleRepository(t *testing.T) (string, *snapshot.Store) {
	t.Helper()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@e",
		"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@e"}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	state := t.TempDir()
	found, err := worktree.NewFinder(worktree.Config{
		Dir: dir, State: filepath.Join(state, "s"), Worktrees: filepath.Join(state, "w"), Env: env,
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir, snapshot.New(found, snapshot.Config{})
}

func TestBundleBringsFilesToAnotherRepository(t *testing.T) {
	ctx := context.Background()
	here, from := bundleRepository(t)
	there, to := bundleRepository(t)
	if err := os.WriteFile(filepath.Join(here, "new.txt"), []byte("untracked\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	snap, err := from.Take(ctx, "aaaaaaaaaaaaaaaa", here, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bundle")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := from.Bundle(ctx, f, []string{snap.Commit, "0123456789012345678901234567890123456789"})
	if err != nil || n != 1 {
		t.Fatalf("%d snapshots, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	id := thread.ID("bbbbbbbbbbbbbbbb")
	if n, err := to.Unbundle(ctx, file, id); err != nil || n != 1 {
		t.Fatalf("%d snapshots, %v", n, err)
	}
	if _, err := to.Restore(ctx, id, there, snap); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(there, "new.txt")); err != nil || string(b) != "untracked\n" {
		t.Errorf("%q %v", b, err)
	}
	if err := os.WriteFile(file, []byte("# v2 git bundle\nrubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := to.Unbundle(ctx, file, id); err == nil && n > 0 {
		t.Error("rubbish was taken in")
	}
}
