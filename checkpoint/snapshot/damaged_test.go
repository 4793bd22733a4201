package snapshot_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

// TestDamagedIndex flips one bit in each part of the private index, which git does not notice: snapshots and diffs are
// right all the same.
func TestDamagedIndex(t *testing.T) {
	r := isolate(t)
	r.Write("a", "1\n")
	r.Write("dir/b", "2\n")
	base := r.CommitAll("first")
	first := r.Take(nil)
	index := filepath.Join(r.Top, "state", "own", "main", "index")
	sound, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for at := 3; at < len(sound); at += 31 {
		r.Write("a", fmt.Sprintf("%d\n", at))
		for what, use := range map[string]func() (string, error){
			"diff": func() (string, error) {
				d, err := r.Store.Diff(t.Context(), r.Dir, base, "")
				return fmt.Sprint(d), err
			},
			"take": func() (string, error) {
				snap, err := r.TakeIn(r.Dir, &first), error(nil)
				return fmt.Sprint(r.Held(snap)), err
			},
		} {
			b := bytes.Clone(sound)
			b[at] ^= 1 << (at % 8)
			if err := os.WriteFile(index, b, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := use()
			if err != nil || !strings.Contains(got, strconv.Itoa(at)) || strings.Contains(got, "dir/b") != (what == "take") {
				t.Errorf("%s with byte %d wrong: %v\n%s", what, at, err, got)
			}
		}
		if sound, err = os.ReadFile(index); err != nil {
			t.Fatal(err)
		}
	}
}
