package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestDiff(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.Write("mod", "1\n2\n3\n")
	r.Write("gone", "g\n")
	r.Write("old name", strings.Repeat("line\n", 20))
	r.Write("bin", "\x00\x01")
	r.Write("kind", "file\n")
	r.Write("crlf.txt", "a\r\nb\r\n")
	r.Write("lfs.dat", "the content")
	r.Write(".gitattributes", "*.txt text\n")
	base := r.CommitAll("first")
	r.Write("mod", "1\ntwo\n3\n")
	r.Remove("gone")
	if err := os.Rename(filepath.Join(r.Dir, "old name"), filepath.Join(r.Dir, "new \"name\"")); err != nil {
		t.Fatal(err)
	}
	r.Write("bin", "\x00\x02")
	r.Remove("kind")
	r.Link("kind", "mod")
	r.Write("added\nline", "x\n@@ -1 +1 @@\ndiff --git a/y b/y\n")
	refs := r.Git("for-each-ref")
	got, err := r.Store.Diff(ctx, r.Dir, base, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Git("for-each-ref") != refs {
		t.Error("a diff left a ref")
	}
	want := []thread.FileDiff{
		{Path: "added\nline", Status: "added", Insertions: 3,
			Patch: "@@ -0,0 +1,3 @@\n+x\n+@@ -1 +1 @@\n+diff --git a/y b/y\n"},
		{Path: "bin", Status: "modified", Binary: true},
		{Path: "gone", Status: "deleted", Deletions: 1, Patch: "@@ -1 +0,0 @@\n-g\n"},
		{Path: "kind", Status: "type", Insertions: 1, Deletions: 1,
			Patch: "@@ -1 +0,0 @@\n-file\n@@ -0,0 +1 @@\n+mod\n\\ No newline at end of file\n"},
		{Path: "mod", Status: "modified", Insertions: 1, Deletions: 1, Patch: "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"},
		{Path: "new \"name\"", OldPath: "old name", Status: "renamed"},
	}
	if len(got) != len(want) {
		t.Fatalf("%d files: %+v", len(got), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", got[i], want[i])
		}
	}
	snap := r.Take(nil)
	again, err := r.Store.Diff(ctx, r.Dir, base, snap.Commit)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
		t.Errorf("the snapshot differs otherwise than the worktree: %v\n%+v", err, again)
	}
	if d := r.Store.Describe(ctx, r.Dir); d != "6 files changed" && d != "7 files changed" {
		t.Errorf("described as %q", d)
	}
	if _, err := r.Store.Diff(ctx, r.Dir, "--output=/tmp/x", ""); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("an option for a commit: %v", err)
	}
}
