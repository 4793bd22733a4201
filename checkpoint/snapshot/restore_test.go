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

	"orchestrator/thread"
)

func TestRestoreIsExactAndUndone(t *testing.T) {
	r := isolate(t)
	r.write("a", "a\n")
	r.write("dir/b", "b\n")
	r.write("swap", "a file\n")
	r.write(".gitignore", ".env\n")
	r.commitAll("first")
	r.write("untracked", "u")
	r.link("link", "a")
	r.writeIn(r.dir, "private", "p", 0o600)
	first := r.take(nil)
	want := r.files(r.dir)

	r.write(".env", "S")
	r.remove("dir")
	r.write("dir", "now a file")
	r.remove("swap")
	r.write("swap/deep/er", "now a folder")
	r.remove("link")
	r.write("link", "no link")
	r.write("a", "changed")
	r.write("later/new", "n")
	r.writeIn(r.dir, "private", "changed", 0o600)
	r.git("add", "a")
	second := r.files(r.dir)
	before := r.visible()

	safety := r.restore(first)
	want[".env"] = "S"
	r.same("restored", r.files(r.dir), want)
	if _, err := os.Stat(filepath.Join(r.dir, "later")); !os.IsNotExist(err) {
		t.Error("an empty folder is left")
	}
	if info, err := os.Stat(filepath.Join(r.dir, "private")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permission bits: %v %v", info.Mode(), err)
	}
	if r.visible() != before {
		t.Error("branch, index or reflog changed")
	}
	r.restore(safety)
	r.same("undone", r.files(r.dir), second)
	if said, err := r.store.Repair(context.Background()); err != nil || len(said) > 0 {
		t.Errorf("left to repair: %q %v", said, err)
	}
}

func TestRestoreLeavesWhatIsNotSaved(t *testing.T) {
	r := isolate(t)
	outside := filepath.Join(r.top, "outside")
	r.writeIn(outside, "f", "outside", 0o644)
	r.write("conf", "old secret\n")
	r.write("cache/x", "x\n")
	r.write("d/f", "inside\n")
	r.write("keep", "k")
	r.commitAll("first")
	first := r.take(nil)

	// What was kept then is ignored now, and stands in the way in every form.
	for _, name := range []string{"conf", "cache", "d"} {
		r.remove(name)
	}
	r.write(".gitignore", "conf\ncache\nd\n")
	r.write("conf", "NEW SECRET\n")
	r.write("cache", "a file where a folder was")
	r.link("d", outside)
	r.write("keep", "changed")
	r.git("rm", "-q", "-r", "--cached", "conf", "cache", "d")

	safety := r.restore(first)
	got := r.files(r.dir)
	want := map[string]string{
		"conf": "NEW SECRET\n", "cache": "a file where a folder was", "d": "link " + outside, "keep": "k",
	}
	r.same("restored", got, want)
	r.same("outside", r.files(outside), map[string]string{"f": "outside"})
	if len(safety.Skipped) != 3 {
		t.Errorf("left: %+v", safety.Skipped)
	}
}

func TestRestoreRefuses(t *testing.T) {
	r := isolate(t)
	r.write("a", "a")
	r.commitAll("first")
	snap := r.take(nil)
	for name, at := range map[string]thread.Snapshot{
		"no commit": {}, "an option": {Commit: "--output=x"}, "a ref": {Commit: "HEAD"},
		"gone": {Commit: strings.Repeat("a", 40)}, "another tree": {Commit: snap.Commit, Tree: strings.Repeat("b", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.store.Restore(context.Background(), "t1", r.dir, at)
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
	r.same("untouched", r.files(r.dir), map[string]string{"a": "a"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.store.Restore(ctx, "t1", r.dir, snap); !errors.Is(err, context.Canceled) {
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
		rapid.SampledFrom([]string{"", "x", "a\r\nb\r\n", "a\nb", "$Id$\n", "\x00\x01\x02", "@@ -1 +1 @@\n", "diff --git a/x b/x\n"}),
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
	for name := range r.files(r.dir) {
		r.remove(strings.SplitN(name, "/", 2)[0])
	}
	for name, body := range tree {
		switch {
		case strings.HasPrefix(body, "link "):
			r.link(name, strings.TrimPrefix(body, "link "))
		case strings.HasPrefix(body, "exec "):
			r.writeIn(r.dir, name, strings.TrimPrefix(body, "exec "), 0o755)
		default:
			r.write(name, body)
		}
	}
}

// TestRestoreOfTakeIsIdentity is the property that everything stands on: for any two contents of a worktree,
// restoring a snapshot of the first over the second gives the first, and a fork has it too.
func TestRestoreOfTakeIsIdentity(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		r := newRepo(t, filepath.Join(mkdir(t, dir, n)))
		base, first, second := drawTree(t, "base"), drawTree(t, "first"), drawTree(t, "second")
		r.lay(base)
		r.commitAll("base")
		r.lay(first)
		snap := r.take(nil)
		r.same("taken", r.held(snap), first)
		r.lay(second)
		safety := r.restore(snap)
		r.same("restored", r.files(r.dir), first)
		r.restore(safety)
		r.same("undone", r.files(r.dir), second)
		wt, err := r.store.Add(context.Background(), "t2", r.dir, "fork", snap)
		if err != nil {
			t.Fatal(err)
		}
		r.same("forked", r.files(wt.Path), first)
		diffs, err := r.store.Diff(context.Background(), wt.Path, snap.Commit, "")
		if err != nil || len(diffs) != 0 {
			t.Fatalf("a fork differs from its snapshot: %+v %v", diffs, err)
		}
		r.checkDiff(snap, safety, first, second)
	})
}

func mkdir(t tb, dir string, n int) string {
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
	diffs, err := r.store.Diff(context.Background(), r.dir, from.Commit, to.Commit)
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
	r.same("diff", got, want)
}

// TestRestoreOnly: the paths that were asked for go back, the others stay as they are, and so does what is in the way.
func TestRestoreOnly(t *testing.T) {
	r := isolate(t)
	r.write("mine", "old")
	r.write("theirs", "old")
	r.write("swap", "a file")
	r.commitAll("first")
	first := r.take(nil)
	r.write("mine", "new")
	r.write("theirs", "new")
	r.write("added", "mine too")
	r.write("their/file", "added")
	r.remove("swap")
	r.write("swap/theirs", "in the way")
	safety, err := r.store.RestoreOnly(t.Context(), "t1", r.dir, first, []string{"mine", "added", "swap", "not/there"})
	if err != nil {
		t.Fatal(err)
	}
	r.same("restored", r.files(r.dir), map[string]string{"mine": "old", "theirs": "new", "their/file": "added", "swap/theirs": "in the way"})
	r.restore(safety)
	if got := r.files(r.dir)["mine"] + r.files(r.dir)["added"]; got != "newmine too" {
		t.Errorf("undone: %s", got)
	}
}
