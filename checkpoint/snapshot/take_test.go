package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

func TestTakeHoldsWhatIsNotIgnored(t *testing.T) {
	r := isolate(t)
	r.Write("tracked.txt", "one\n")
	r.Write("gone.txt", "gone\n")
	r.Write(".gitignore", ".env\nbuild/\n")
	r.Write("forced.log", "kept\n")
	r.CommitAll("first")
	r.Remove("gone.txt")
	r.Write("tracked.txt", "one\ntwo\n")
	r.Write("new/deep/file.txt", "untracked\n")
	r.Write(".env", "SECRET=1\n")
	r.Write("build/out.o", "object")
	r.Write("bin/tool", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(r.Dir, "bin/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.Link("to-etc", "/etc/passwd")
	r.Write("staged.txt", "staged\n")
	r.Git("add", "staged.txt")
	before := r.Visible()

	snap := r.Take(nil)
	want := map[string]string{
		"tracked.txt": "one\ntwo\n", ".gitignore": ".env\nbuild/\n", "forced.log": "kept\n",
		"new/deep/file.txt": "untracked\n", "bin/tool": "exec #!/bin/sh\n", "to-etc": "link /etc/passwd",
		"staged.txt": "staged\n",
	}
	r.Same("snapshot", r.Held(snap), want)
	if after := r.Visible(); after != before {
		t.Errorf("the repository looks different after a snapshot:\n%s\n==\n%s", before, after)
	}
	indexes := 0
	err := filepath.WalkDir(filepath.Join(r.Top, "state"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.Name() != "index" {
			return err
		}
		info, err := e.Info()
		if indexes++; err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v: it names the person's files", path, info.Mode())
		}
		return err
	})
	if err != nil || indexes == 0 {
		t.Errorf("%d indexes, %v", indexes, err)
	}
	if snap.Base != r.Git("rev-parse", "HEAD") || snap.Base != r.Git("rev-parse", snap.Commit+"^") {
		t.Errorf("base = %s", snap.Base)
	}
	if snap.Files != 6 || snap.Insertions != 5 || snap.Deletions != 1 {
		t.Errorf("counts against the base: %d files, +%d −%d", snap.Files, snap.Insertions, snap.Deletions)
	}

	again := r.Take(&snap)
	if again.Commit != snap.Commit || again.Files != 0 {
		t.Errorf("nothing changed, yet %+v", again)
	}
	if n := len(strings.Fields(r.Git("for-each-ref", "--format=%(refname)", "refs/orchestrator"))); n != 1 {
		t.Errorf("%d refs after two snapshots of the same", n)
	}
	r.Write("tracked.txt", "two\n")
	third := r.Take(&again)
	if third.Files != 1 || third.Insertions != 0 || third.Deletions != 1 {
		t.Errorf("counts against the one before: %+v", third)
	}
}

// TestTakeForgetsWhatBecameIgnored is the case of a secret that was there before the .gitignore.
func TestTakeForgetsWhatBecameIgnored(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a")
	r.CommitAll("first")
	r.Write(".env", "S")
	if snap := r.Take(nil); r.Held(snap)[".env"] != "S" {
		t.Fatal("an untracked file is missing")
	}
	r.Write(".gitignore", ".env\n")
	if _, found := r.Held(r.Take(nil))[".env"]; found {
		t.Error("an ignored file is in a snapshot")
	}
	r.Git("add", "-f", ".env")
	if r.Held(r.Take(nil))[".env"] != "S" {
		t.Error("a file that the person added by force is missing")
	}
	r.Git("rm", "-q", "--cached", ".env")
	if _, found := r.Held(r.Take(nil))[".env"]; found {
		t.Error("a file that the person took out again is in a snapshot")
	}
	r.Git("config", "core.excludesFile", filepath.Join(r.Top, "mine"))
	r.WriteIn(r.Top, "mine", "*.secret\n", 0o644)
	r.Write("x.secret", "S")
	r.WriteIn(r.Dir, ".git/info/exclude", "*.local\n", 0o644)
	r.Write("x.local", "S")
	held := r.Held(r.Take(nil))
	if held["x.secret"] != "" || held["x.local"] != "" {
		t.Errorf("the person's own excludes do not count: %q", held)
	}
}

func TestTakeKeepsBytes(t *testing.T) {
	for _, auto := range []string{"", "true", "input"} {
		t.Run("autocrlf="+auto, func(t *testing.T) {
			r := isolate(t)
			canary := filepath.Join(r.Top, "canary")
			filter := "touch " + canary + "; cat"
			for _, kv := range [][2]string{
				{"filter.evil.clean", filter}, {"filter.evil.smudge", filter}, {"filter.evil.required", "true"},
				{"core.safecrlf", "true"},
			} {
				r.Git("config", kv[0], kv[1])
			}
			if auto != "" {
				r.Git("config", "core.autocrlf", auto)
				r.Git("config", "core.safecrlf", "false")
			}
			files := map[string]string{
				"crlf.txt": "a\r\nb\r\n", "lf.txt": "a\nb\n", "mixed.txt": "a\r\nb\n", "bin": "\x00\x01\r\n\xff",
				"id.c": "$Id: x $\n", "none": "", "u16.txt": "\xff\xfea\x00\r\x00\n\x00",
				"big.dat": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 3\n",
			}
			for name, content := range files {
				r.Write(name, content)
			}
			r.Write(".gitattributes", "*.txt text=auto\nu16.txt working-tree-encoding=UTF-16 text\n*.c ident\n")
			if auto == "" {
				r.Git("config", "core.safecrlf", "false")
			}
			r.CommitAll("first")
			r.Write(".gitattributes", "*.txt text eol=lf\nu16.txt working-tree-encoding=UTF-16\n*.c ident\n*.dat filter=evil\n* filter=evil\n")
			files[".gitattributes"] = r.Files(r.Dir)[".gitattributes"]
			r.Write("new.txt", "x\r\ny\r\n")
			files["new.txt"] = "x\r\ny\r\n"
			_ = os.Remove(canary)
			snap := r.Take(nil)
			r.Same("snapshot", r.Held(snap), files)
			for name := range files {
				r.Remove(name)
			}
			r.Restore(snap)
			r.Same("restored", r.Files(r.Dir), files)
			if _, err := os.Stat(canary); err == nil {
				t.Error("a filter ran")
			}
		})
	}
}

func TestTakeSkipsAndNames(t *testing.T) {
	r := isolate(t)
	r.Store = r.Open(1 << 10)
	r.Write("big-tracked", strings.Repeat("x", 4000))
	r.Write("small", "s")
	r.CommitAll("first")
	r.Write("big-new", strings.Repeat("y", 1025))
	r.Write("fits", strings.Repeat("y", 1024))
	r.GitIn(r.Dir, "init", "-q", "nested")
	r.WriteIn(filepath.Join(r.Dir, "nested"), "inner", "x", 0o644)
	r.Write("sub/git~1", "x")
	if err := unix.Mkfifo(filepath.Join(r.Dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := r.Take(nil)
	held := r.Held(snap)
	if held["big-tracked"] == "" || held["fits"] == "" {
		t.Errorf("missing: an unchanged tracked file of any size, or one at the limit")
	}
	want := []thread.Skip{
		{Path: "big-new", Reason: "larger than 1 KiB"},
		{Path: "nested/", Reason: "another git repository"},
		{Path: "sub/git~1", Reason: "git refuses the name"},
	}
	if len(snap.Skipped) != len(want) {
		t.Fatalf("skipped %+v", snap.Skipped)
	}
	for i, sk := range want {
		if snap.Skipped[i] != sk {
			t.Errorf("skipped %+v, want %+v", snap.Skipped[i], sk)
		}
	}
	r.Write("small", "changed")
	r.Write("big-tracked", strings.Repeat("z", 5000))
	later := r.Take(&snap)
	if _, found := r.Held(later)["big-tracked"]; found || len(later.Skipped) != 4 {
		t.Errorf("a tracked file that grew over the limit: %+v", later.Skipped)
	}
	// Restoring does not touch what no snapshot holds.
	r.Restore(snap)
	now := r.Files(r.Dir)
	if now["big-tracked"] != strings.Repeat("z", 5000) || now["big-new"] != strings.Repeat("y", 1025) ||
		now["small"] != "s" {
		t.Error("a restore touched a file that was not saved")
	}
}

// TestRestoreSparesWhatWasSkipped: a file that a snapshot skipped as too large, and a later one holds, stays as it is.
func TestRestoreSparesWhatWasSkipped(t *testing.T) {
	r := isolate(t)
	r.Store = r.Open(1 << 10)
	r.Write("a", "a")
	r.CommitAll("first")
	r.Write("data", strings.Repeat("x", 2000))
	snap := r.Take(nil)
	if len(snap.Skipped) != 1 || snap.Skipped[0].Path != "data" {
		t.Fatalf("skipped %+v", snap.Skipped)
	}
	r.Write("data", "short")
	r.Write("a", "changed")
	safety := r.Restore(snap)
	if now := r.Files(r.Dir); now["data"] != "short" || now["a"] != "a" {
		t.Errorf("restored are %v", now)
	}
	if len(safety.Skipped) != 1 || safety.Skipped[0].Path != "data" {
		t.Errorf("not named as left: %+v", safety.Skipped)
	}
}

// TestTakeKeepsItAgain: where the ref of the newest snapshot was deleted, the next one is kept by a ref although
// nothing changed.
func TestTakeKeepsItAgain(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a")
	r.CommitAll("first")
	r.Write("b", "b")
	snap := r.Take(nil)
	for _, ref := range strings.Fields(r.Git("for-each-ref", "--format=%(refname)", "refs/orchestrator/")) {
		r.Git("update-ref", "-d", ref)
	}
	again := r.Take(&snap)
	kept := r.Git("for-each-ref", "--format=%(objectname)", "refs/orchestrator/")
	if !strings.Contains(kept, again.Commit) || again.Tree != snap.Tree {
		t.Errorf("snapshot %+v, kept are %q", again, kept)
	}
}

func TestTakeUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads everything: the permission half is skipped; run it as another user with: go test ./checkpoint/snapshot")
		return
	}
	r := isolate(t)
	r.Write("a", "a")
	r.CommitAll("first")
	r.Write("closed", "x")
	if err := os.Chmod(filepath.Join(r.Dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	snap := r.Take(nil)
	if len(snap.Skipped) != 1 || snap.Skipped[0] != (thread.Skip{Path: "closed", Reason: "cannot be read"}) {
		t.Errorf("skipped %+v", snap.Skipped)
	}
}

func TestTakeOfEveryKindOfRepository(t *testing.T) {
	ctx := context.Background()
	t.Run("unborn", func(t *testing.T) {
		r := isolate(t)
		r.Write("a", "a")
		snap := r.Take(nil)
		if snap.Base != "" || r.Held(snap)["a"] != "a" {
			t.Errorf("%+v", snap)
		}
	})
	t.Run("empty", func(t *testing.T) {
		r := isolate(t)
		if snap := r.Take(nil); snap.Commit == "" {
			t.Errorf("%+v", snap)
		}
	})
	t.Run("detached", func(t *testing.T) {
		r := isolate(t)
		r.Write("a", "a")
		c := r.CommitAll("first")
		r.Git("checkout", "-q", "--detach")
		if snap := r.Take(nil); snap.Base != c {
			t.Errorf("%+v", snap)
		}
	})
	t.Run("sha256", func(t *testing.T) {
		r := newRepo(t, t.TempDir(), "--object-format=sha256")
		r.Write("a", "a")
		r.Write("b", "b")
		r.CommitAll("first")
		r.Remove("b")
		snap := r.Take(nil)
		r.Same("snapshot", r.Held(snap), map[string]string{"a": "a"})
		r.Write("b", "c")
		r.Take(nil)
		r.Restore(snap)
		r.Same("restored", r.Files(r.Dir), map[string]string{"a": "a"})
	})
	t.Run("in a merge conflict", func(t *testing.T) {
		r := isolate(t)
		r.Write("a", "a\n")
		r.Write("b", "b\n")
		r.CommitAll("first")
		r.Git("checkout", "-q", "-b", "side")
		r.Write("a", "side\n")
		r.CommitAll("side")
		r.Git("checkout", "-q", "main")
		r.Write("a", "main\n")
		r.CommitAll("main")
		cmdErr := r.Try("merge", "-q", "side")
		if cmdErr == nil {
			t.Fatal("no conflict")
		}
		want := r.Files(r.Dir)
		before := r.Visible()
		r.Same("snapshot", r.Held(r.Take(nil)), want)
		if r.Visible() != before {
			t.Error("the conflict in the index is gone")
		}
	})
	t.Run("split index", func(t *testing.T) {
		r := isolate(t)
		r.Write("a", "a\n")
		r.Write("b", "b\n")
		r.CommitAll("first")
		r.Git("update-index", "--split-index")
		r.Write("a", "changed\n")
		r.Same("snapshot", r.Held(r.Take(nil)), map[string]string{"a": "changed\n", "b": "b\n"})
	})
	t.Run("sparse", func(t *testing.T) {
		r := isolate(t)
		r.Write("in/a", "a\n")
		r.Write("out/b", "b\n")
		r.CommitAll("first")
		r.Git("sparse-checkout", "set", "in")
		r.Same("snapshot", r.Held(r.Take(nil)), map[string]string{"in/a": "a\n", "out/b": "b\n"})
		r.Git("sparse-checkout", "set", "out")
		r.Same("snapshot", r.Held(r.Take(nil)), map[string]string{"in/a": "a\n", "out/b": "b\n"})
	})
	t.Run("flags that hide changes", func(t *testing.T) {
		r := isolate(t)
		r.Write("a", "a\n")
		r.Write("b", "b\n")
		r.CommitAll("first")
		r.Git("update-index", "--assume-unchanged", "a")
		r.Git("update-index", "--skip-worktree", "b")
		r.Write("a", "x\n")
		r.Write("b", "y\n")
		r.Same("snapshot", r.Held(r.Take(nil)), map[string]string{"a": "x\n", "b": "y\n"})
	})
	t.Run("bare", func(t *testing.T) {
		r := isolate(t)
		r.Git("clone", "-q", "--bare", r.Dir, filepath.Join(r.Top, "bare"))
		if _, err := r.Store.Take(ctx, "t1", filepath.Join(r.Top, "bare"), nil); !errors.Is(err, git.ErrBare) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		r := isolate(t)
		if _, err := r.Store.Take(ctx, "t1", r.Top, nil); !errors.Is(err, thread.ErrNoRepository) {
			t.Errorf("err = %v", err)
		}
		if _, err := r.Store.Take(ctx, "t1", filepath.Join(r.Top, "missing"), nil); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("subfolder and worktree inside a worktree", func(t *testing.T) {
		r := isolate(t)
		r.Write("a/b", "b")
		r.CommitAll("first")
		r.Git("worktree", "add", "-q", "-b", "other", "inner")
		r.WriteIn(filepath.Join(r.Dir, "inner"), "c", "c", 0o644)
		outer, inner := r.TakeIn(filepath.Join(r.Dir, "a"), nil), r.TakeIn(filepath.Join(r.Dir, "inner"), nil)
		r.Same("outer", r.Held(outer), map[string]string{"a/b": "b"})
		r.Same("inner", r.Held(inner), map[string]string{"a/b": "b", "c": "c"})
		if len(outer.Skipped) != 1 {
			t.Errorf("skipped %+v", outer.Skipped)
		}
	})
	t.Run("submodule", func(t *testing.T) {
		r := isolate(t)
		r.Git("init", "-q", "-b", "main", filepath.Join(r.Top, "lib"))
		lib := filepath.Join(r.Top, "lib")
		r.WriteIn(lib, "l", "l", 0o644)
		r.GitIn(lib, "add", "l")
		r.GitIn(lib, "commit", "-q", "-m", "lib")
		r.Write("a", "a")
		r.Take(nil) // so that our index is older than the submodule
		r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "vendor/lib")
		r.CommitAll("first")
		head := r.GitIn(lib, "rev-parse", "HEAD")
		r.WriteIn(filepath.Join(r.Dir, "vendor/lib"), "dirty", "d", 0o644)
		snap := r.Take(nil)
		if got := r.Held(snap)["vendor/lib"]; got != "repo "+head {
			t.Errorf("vendor/lib = %q", got)
		}
		sub := filepath.Join(r.Dir, "vendor/lib")
		r.GitIn(sub, "commit", "-q", "--allow-empty", "-m", "on")
		moved := r.Take(&snap)
		if got := r.Held(moved)["vendor/lib"]; got != "repo "+r.GitIn(sub, "rev-parse", "HEAD") {
			t.Errorf("vendor/lib = %q after it moved on", got)
		}
		safety := r.Restore(snap)
		if len(safety.Skipped) != 1 || r.Files(sub)["dirty"] != "d" {
			t.Errorf("the submodule was touched or not named: %+v", safety.Skipped)
		}
		if in := r.TakeIn(sub, nil); r.HeldIn(sub, in)["dirty"] != "d" {
			t.Error("inside the submodule its own files count")
		}
	})
}

func TestTakeBadThread(t *testing.T) {
	r := isolate(t)
	for _, id := range []thread.ID{"", "../x", "-c", "a/b", "a b", "a\x00", thread.ID(strings.Repeat("a", 65)), "a.lock"} {
		if _, err := r.Store.Take(context.Background(), id, r.Dir, nil); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestTakeAfterPrune takes snapshots while the person's git throws away what no ref keeps.
func TestTakeAfterPrune(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	r.Write("b", "only in a snapshot\n")
	snap := r.Take(nil)
	if err := r.Store.Drop(context.Background(), "t1"); err != nil {
		t.Fatal(err)
	}
	r.Git("gc", "-q", "--prune=now")
	if err := r.Try("cat-file", "-e", snap.Commit); err == nil {
		t.Fatal("the dropped snapshot is still there")
	}
	again := r.Take(nil)
	r.Same("snapshot", r.Held(again), map[string]string{"a": "a\n", "b": "only in a snapshot\n"})
	r.Git("gc", "-q", "--prune=now")
	r.Same("snapshot after gc", r.Held(again), map[string]string{"a": "a\n", "b": "only in a snapshot\n"})
	if n, err := r.Store.Size(context.Background()); err != nil || n <= 0 {
		t.Errorf("size = %d, %v", n, err)
	}
}
