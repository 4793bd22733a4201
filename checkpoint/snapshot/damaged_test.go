package snapshot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedRefs empties refs of snapshots, breaks them, and has one lead to a commit that is not there.
func TestDamagedRefs(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.Write("a", "0\n")
	r.CommitAll("first")
	var commits []string
	for i := range 5 {
		r.Write("a", fmt.Sprintf("%d\n", i+1))
		commits = append(commits, r.Take(nil).Commit)
	}
	refs := filepath.Join(r.Dir, ".git/refs/orchestrator/t1")
	for name, content := range map[string]string{"1": "", "2": strings.Repeat("\x00", 41),
		"3": strings.Repeat("a", 40) + "\n", "5": "no id\n"} {
		r.WriteIn(refs, name, content, 0o644)
	}
	if ids, err := r.Store.Damaged(ctx); err != nil || len(ids) != 1 || ids[0] != "t1" {
		t.Fatalf("damaged: %v %v", ids, err)
	}
	r.Store = r.Open(0)
	if said, err := r.Store.Repair(ctx); err != nil || len(said) > 0 {
		t.Errorf("repair: %q %v", said, err)
	}
	r.Write("a", "after\n")
	after := r.Take(nil) // the rest goes on
	missing := strings.Repeat("b", 40)
	said, err := r.Store.RepairRefs(ctx, "t1", append(commits, missing, "--all", ""))
	if err != nil || !strings.Contains(said, "4 snapshot refs were damaged") ||
		!strings.Contains(said, "4 snapshots are restored") ||
		!strings.Contains(said, "1 snapshot is lost: "+missing) {
		t.Errorf("said %q %v", said, err)
	}
	if ids, err := r.Store.Damaged(ctx); err != nil || len(ids) != 0 {
		t.Errorf("damaged: %v %v", ids, err)
	}
	kept, err := r.Store.Kept(ctx)
	if err != nil || len(kept) != 1 || len(kept["t1"]) != 6 || !kept["t1"][commits[0]] || kept["t1"][missing] {
		t.Errorf("kept: %v %v", kept, err)
	}
	r.Git("gc", "-q", "--prune=now")
	r.Git("fsck", "--no-dangling")
	for _, commit := range append(commits, after.Commit) {
		r.Git("cat-file", "-e", commit+"^{tree}")
	}
	if _, err := r.Store.Size(ctx); err != nil {
		t.Error(err)
	}
}

// TestDropTakesDamagedRefs: a purged thread leaves nothing.
func TestDropTakesDamagedRefs(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	r.Take(nil)
	r.WriteIn(filepath.Join(r.Dir, ".git/refs/orchestrator/t1"), "1", "", 0o644)
	if err := r.Store.Drop(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	if ids, err := r.Store.Damaged(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("damaged: %v %v", ids, err)
	}
}
