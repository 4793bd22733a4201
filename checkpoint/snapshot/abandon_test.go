package snapshot

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrator/checkpoint/disk"
	"orchestrator/checkpoint/repository"
	"orchestrator/checkpoint/worktree"
)

// TestGiveUpSparesWhatWasLeft fails a restore in its middle, after it had to leave an ignored file that is in the way:
// taking back must not take that file for one of its own.
func TestGiveUpSparesWhatWasLeft(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "project")
	env := []string{
		"HOME=" + top, "XDG_CONFIG_HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
	cmd := exec.Command("git", "init", "-q", dir)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found, err := worktree.NewFinder(worktree.Config{
		Dir: dir, State: filepath.Join(top, "state"), Worktrees: filepath.Join(top, "trees"), Env: env,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := New(found, Config{})
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	write("a-secret", "old\n")
	write("b-gone", "old\n")
	write("c-changed", "old\n")
	write("d-busy", "old\n")
	first, err := s.Take(ctx, "t1", dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(".gitignore", "a-secret\n")
	write("a-secret", "NEW\n")
	write("c-changed", "new\n")
	write("d-busy", "new\n")
	write("e-new", "new\n")
	if err := os.Remove(filepath.Join(dir, "b-gone")); err != nil {
		t.Fatal(err)
	}
	w, err := s.open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	where, err := disk.OpenPlace(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer where.Close()
	safety, list, err := s.settle(ctx, w, where, repository.Operation{Thread: "t1"}, first.Tree)
	if err != nil {
		t.Fatal(err)
	}
	list.from, list.to = safety.Tree, first.Tree
	write("d-busy", "written by an agent meanwhile\n")
	failed := w.carryOut(ctx, where, list)
	if !errors.Is(failed, ErrChanged) || len(list.left) != 1 {
		t.Fatalf("%v, left %v", failed, list.left)
	}
	j, err := w.work.Repo.Journals.Begin(repository.Operation{Kind: repository.KindRestore, Thread: "t1", Target: &first})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.abandon(ctx, where, j, list, failed); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"a-secret": "NEW\n", "c-changed": "new\n", "d-busy": "written by an agent meanwhile\n", "e-new": "new\n",
		".gitignore": "a-secret\n",
	} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "b-gone")); !os.IsNotExist(err) {
		t.Errorf("b-gone is there: %v", err)
	}
	if left, _, err := w.work.Repo.Journals.Left(); err != nil || len(left) > 0 {
		t.Errorf("pending: %v %v", left, err)
	}
}
