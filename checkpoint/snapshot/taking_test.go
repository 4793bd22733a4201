package snapshot

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
	"orchestrator/thread/ground/semaphore"
)

// TestSnapshotsTakeTheirTurn: while others are taken a snapshot waits, and no longer than its caller does.
func TestSnapshotsTakeTheirTurn(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(project, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := worktree.NewFinder(worktree.Config{
		Dir: project, State: filepath.Join(dir, "state"), Worktrees: filepath.Join(dir, "worktrees"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := New(found, Config{})
	s.taking = semaphore.New(1, time.Hour)
	leave, _ := s.taking.TryAcquire() // another is taken
	id := thread.NewID[thread.ID]()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { _, err := s.Take(ctx, id, project, nil); failed <- err }()
	select {
	case err := <-failed:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(300 * time.Millisecond): // nothing tells that it waits
	}
	cancel()
	if err := <-failed; err == nil {
		t.Error("it was taken out of turn")
	}
	leave()
	if _, err := s.Take(t.Context(), id, project, nil); err != nil {
		t.Error(err)
	}
	if leave, ok := s.taking.TryAcquire(); !ok {
		t.Error("the snapshot kept its place")
	} else {
		leave()
	}
}
