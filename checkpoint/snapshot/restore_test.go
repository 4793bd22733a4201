package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/thread"
)

func TestRestoreIsExactAndUndone(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.Write("dir/b", "b\n")
	r.Write("swap", "a file\n")
	r.Write(".gitignore", ".env\n")
	r.CommitAll("first")
	r.Write("untracked", "u")
	r.Link("link", "a")
	r.WriteIn(r.Dir, "private", "p", 0o600)
	first := r.Take(nil)
	want := r.Files(r.Dir)

	r.Write(".env", "S")
	r.Remove("dir")
	r.Write("dir", "now a file")
	r.Remove("swap")
	r.Write("swap/deep/er", "now a folder")
	r.Remove("link")
	r.Write("link", "no link")
	r.Write("a", "changed")
	r.Write("later/new", "n")
	r.WriteIn(r.Dir, "private", "changed", 0o600)
	r.Git("add", "a")
	second := r.Files(r.Dir)
	before := r.Visible()

	safety := r.Restore(first)
	want[".env"] = "S"
	r.Same("restored", r.Files(r.Dir), want)
	if _, err := os.Stat(filepath.Join(r.Dir, "later")); !os.IsNotExist(err) {
		t.Error("an empty folder is left")
	}
	if info, err := os.Stat(filepath.Join(r.Dir, "private")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permission bits: %v %v", info.Mode(), err)
	}
	if r.Visible() != before {
		t.Error("branch, index or reflog changed")
	}
	r.Restore(safety)
	r.Same("undone", r.Files(r.Dir), second)
	if said, err := r.Store.Repair(context.Background()); err != nil || len(said) > 0 {
		t.Errorf("left to repair: %q %v", said, err)
	}
}

func TestRestoreLeavesWhatIsNotSaved(t *testing.T) {
	r := isolate(t)
	outside := filepath.Join(r.Top, "outside")
	r.WriteIn(outside, "f", "outside", 0o644)
	r.Write("conf", "old secret\n")
	r.Write("cache/x", "x\n")
	r.Write("d/f", "inside\n")
	r.Write("keep", "k")
	r.CommitAll("first")
	first := r.Take(nil)

	// What was kept then is ignored now, and stands in the way in every form.
	for _, name := range []string{"conf", "cache", "d"} {
		r.Remove(name)
	}
	r.Write(".gitignore", "conf\ncache\nd\n")
	r.Write("conf", "NEW SECRET\n")
	r.Write("cache", "a file where a folder was")
	r.Link("d", outside)
	r.Write("keep", "changed")
	r.Git("rm", "-q", "-r", "--cached", "conf", "cache", "d")

	safety := r.Restore(first)
	got := r.Files(r.Dir)
	want := map[string]string{
		"conf": "NEW SECRET\n", "cache": "a file where a folder was", "d": "link " + outside, "keep": "k",
	}
	r.Same("restored", got, want)
	r.Same("outside", r.Files(outside), map[string]string{"f": "outside"})
	if len(safety.Skipped) != 3 {
		t.Errorf("left: %+v", safety.Skipped)
	}
}

func TestRestoreRefuses(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a")
	r.CommitAll("first")
	snap := r.Take(nil)
	for name, at := range map[string]thread.Snapshot{
		"no commit": {}, "an option": {Commit: "--output=x"}, "a ref": {Commit: "HEAD"},
		"gone": {Commit: strings.Repeat("a", 40)}, "another tree": {Commit: snap.Commit, Tree: strings.Repeat("b", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.Store.Restore(context.Background(), "t1", r.Dir, at)
			if name == "no commit" { // the empty tree would mean to delete everything
				if err == nil {
					t.Error("accepted")
				}
				return
			}
			if !errors.Is(err, thread.ErrInvalid) && !errors.Is(err, thread.ErrNotFound) && !errors.Is(err, thread.ErrDamaged) {
				t.Errorf("err = %v", err)
			}
		})
	}
	r.Same("untouched", r.Files(r.Dir), map[string]string{"a": "a"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Store.Restore(ctx, "t1", r.Dir, snap); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

// drawTree draws the content of a worktree: odd names, links, modes, binary and CRLF content.
func drawTree(t *rapid.T, label string) map[string]string {
	part := rapid.SampledFrom([]string{
		"a", "b", "c.txt", "dir", "sub", "ü", "a b", "q\"uote", "tab\there", "new\nline", "-opt", ":(top)x", "*", "e\u0301",
		"\xff\xfe", ".hidden", "x.c", "HEAD", "CRLF.bat", "a\\b", "diff --git a",
	})
	content := rapid.OneOf(
		rapid.SampledFrom([]string{"", "x", "a\r\nb\r\n", "a\nb", "$Id$\n", "\x00\x01\x02", "@@ -1 +1 @@\n",
			"diff --git a/x b/x\n"}),
		rapid.StringN(0, 40, 200),
	)
	tree := map[string]string{}
	for i := range rapid.IntRange(0, 12).Draw(t, label+" files") {
		depth := rapid.IntRange(1, 3).Draw(t, fmt.Sprint(label, " depth ", i))
		var parts []string
		for range depth {
			parts = append(parts, part.Draw(t, label+" part"))
		}
		name := strings.Join(parts, "/")
		if taken(tree, name) {
			continue
		}
		body := content.Draw(t, label+" content")
		switch rapid.IntRange(0, 5).Draw(t, label+" kind") {
		case 0:
			body = "exec " + body
		case 1:
			body = "link " + rapid.SampledFrom([]string{"a", "../..", "/etc/passwd", "dir", "nowhere"}).Draw(t, label+" target")
		}
		tree[name] = body
	}
	return tree
}

// taken reports whether a name, or a folder it needs, is used already.
func taken(tree map[string]string, name string) bool {
	for have := range tree {
		if have == name || strings.HasPrefix(have, name+"/") || strings.HasPrefix(name, have+"/") {
			return true
		}
	}
	return false
}

// lay makes a worktree hold exactly a tree.
func (r *repo) lay(tree map[string]string) {
	r.Helper()
	for name := range r.Files(r.Dir) {
		r.Remove(strings.SplitN(name, "/", 2)[0])
	}
	for name, body := range tree {
		switch {
		case strings.HasPrefix(body, "link "):
			r.Link(name, strings.TrimPrefix(body, "link "))
		case strings.HasPrefix(body, "exec "):
			r.WriteIn(r.Dir, name, strings.TrimPrefix(body, "exec "), 0o755)
		default:
			r.Write(name, body)
		}
	}
}

// TestRestoreOfTakeIsIdentity is the property that everything depends on: for any two contents of a worktree,
// restoring a snapshot of the first over the second gives the first, and a fork has it too.
func TestRestoreOfTakeIsIdentity(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		r := newRepo(t, filepath.Join(mkdir(t, dir, n)))
		base, first, second := drawTree(t, "base"), drawTree(t, "first"), drawTree(t, "second")
		r.lay(base)
		r.CommitAll("base")
		r.lay(first)
		snap := r.Take(nil)
		r.Same("taken", r.Held(snap), first)
		r.lay(second)
		safety := r.Restore(snap)
		r.Same("restored", r.Files(r.Dir), first)
		r.Restore(safety)
		r.Same("undone", r.Files(r.Dir), second)
		wt, err := r.Store.Add(context.Background(), "t2", r.Dir, "fork", snap)
		if err != nil {
			t.Fatal(err)
		}
		r.Same("forked", r.Files(wt.Path), first)
		diffs, err := r.Store.Diff(context.Background(), wt.Path, snap.Commit, "")
		if err != nil || len(diffs) != 0 {
			t.Fatalf("a fork differs from its snapshot: %+v %v", diffs, err)
		}
		r.checkDiff(snap, safety, first, second)
	})
}

func mkdir(t snapshottest.T, dir string, n int) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprint(n))
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkDiff compares what Diff says about two snapshots with their files.
func (r *repo) checkDiff(from, to thread.Snapshot, a, b map[string]string) {
	r.Helper()
	diffs, err := r.Store.Diff(context.Background(), r.Dir, from.Commit, to.Commit)
	if err != nil {
		r.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range diffs {
		got[d.Path] = d.Status
		if d.Status == "renamed" {
			got[d.OldPath], got[d.Path] = "deleted", "added"
		}
		if d.Patch != "" && !strings.HasPrefix(d.Patch, "@@ ") {
			r.Errorf("patch of %q begins with %q", d.Path, d.Patch)
		}
	}
	want := map[string]string{}
	for name, body := range a {
		now, there := b[name]
		switch {
		case !there:
			want[name] = "deleted"
		case now != body && strings.HasPrefix(now, "link ") != strings.HasPrefix(body, "link "):
			want[name] = "type"
		case now != body:
			want[name] = "modified"
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			want[name] = "added"
		}
	}
	r.Same("diff", got, want)
}

// TestRestoreOnly: the paths that were asked for go back, the others stay as they are, and so does what is in the way.
func TestRestoreOnly(t *testing.T) {
	r := isolate(t)
	r.Write("mine", "old")
	r.Write("theirs", "old")
	r.Write("swap", "a file")
	r.CommitAll("first")
	first := r.Take(nil)
	r.Write("mine", "new")
	r.Write("theirs", "new")
	r.Write("added", "mine too")
	r.Write("their/file", "added")
	r.Remove("swap")
	r.Write("swap/theirs", "in the way")
	safety, err := r.Store.RestoreOnly(t.Context(), "t1", r.Dir, first, []string{"mine", "added", "swap", "not/there"})
	if err != nil {
		t.Fatal(err)
	}
	r.Same("restored", r.Files(r.Dir), map[string]string{"mine": "old", "theirs": "new", "their/file": "added",
		"swap/theirs": "in the way"})
	r.Restore(safety)
	if got := r.Files(r.Dir)["mine"] + r.Files(r.Dir)["added"]; got != "newmine too" {
		t.Errorf("undone: %s", got)
	}
}
