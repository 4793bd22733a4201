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
	r.write("tracked.txt", "one\n")
	r.write("gone.txt", "gone\n")
	r.write(".gitignore", ".env\nbuild/\n")
	r.write("forced.log", "kept\n")
	r.commitAll("first")
	r.remove("gone.txt")
	r.write("tracked.txt", "one\ntwo\n")
	r.write("new/deep/file.txt", "untracked\n")
	r.write(".env", "SECRET=1\n")
	r.write("build/out.o", "object")
	r.write("bin/tool", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(r.dir, "bin/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.link("to-etc", "/etc/passwd")
	r.write("staged.txt", "staged\n")
	r.git("add", "staged.txt")
	before := r.visible()

	snap := r.take(nil)
	want := map[string]string{
		"tracked.txt": "one\ntwo\n", ".gitignore": ".env\nbuild/\n", "forced.log": "kept\n",
		"new/deep/file.txt": "untracked\n", "bin/tool": "exec #!/bin/sh\n", "to-etc": "link /etc/passwd",
		"staged.txt": "staged\n",
	}
	r.same("snapshot", r.held(snap), want)
	if after := r.visible(); after != before {
		t.Errorf("the repository looks different after a snapshot:\n%s\n==\n%s", before, after)
	}
	if snap.Base != r.git("rev-parse", "HEAD") || snap.Base != r.git("rev-parse", snap.Commit+"^") {
		t.Errorf("base = %s", snap.Base)
	}
	if snap.Files != 6 || snap.Insertions != 5 || snap.Deletions != 1 {
		t.Errorf("counts against the base: %d files, +%d −%d", snap.Files, snap.Insertions, snap.Deletions)
	}

	again := r.take(&snap)
	if again.Commit != snap.Commit || again.Files != 0 {
		t.Errorf("nothing changed, yet %+v", again)
	}
	if n := len(strings.Fields(r.git("for-each-ref", "--format=%(refname)", "refs/orchestrator"))); n != 1 {
		t.Errorf("%d refs after two snapshots of the same", n)
	}
	r.write("tracked.txt", "two\n")
	third := r.take(&again)
	if third.Files != 1 || third.Insertions != 0 || third.Deletions != 1 {
		t.Errorf("counts against the one before: %+v", third)
	}
}

// TestTakeForgetsWhatBecameIgnored is the case of a secret that was there before the .gitignore.
func TestTakeForgetsWhatBecameIgnored(t *testing.T) {
	r := isolate(t)
	r.write("a", "a")
	r.commitAll("first")
	r.write(".env", "S")
	if snap := r.take(nil); r.held(snap)[".env"] != "S" {
		t.Fatal("an untracked file is missing")
	}
	r.write(".gitignore", ".env\n")
	if _, found := r.held(r.take(nil))[".env"]; found {
		t.Error("an ignored file is in a snapshot")
	}
	r.git("add", "-f", ".env")
	if r.held(r.take(nil))[".env"] != "S" {
		t.Error("a file that the person added by force is missing")
	}
	r.git("rm", "-q", "--cached", ".env")
	if _, found := r.held(r.take(nil))[".env"]; found {
		t.Error("a file that the person took out again is in a snapshot")
	}
	r.git("config", "core.excludesFile", filepath.Join(r.top, "mine"))
	r.writeIn(r.top, "mine", "*.secret\n", 0o644)
	r.write("x.secret", "S")
	r.writeIn(r.dir, ".git/info/exclude", "*.local\n", 0o644)
	r.write("x.local", "S")
	held := r.held(r.take(nil))
	if held["x.secret"] != "" || held["x.local"] != "" {
		t.Errorf("the person's own excludes do not count: %q", held)
	}
}

func TestTakeKeepsBytes(t *testing.T) {
	for _, auto := range []string{"", "true", "input"} {
		t.Run("autocrlf="+auto, func(t *testing.T) {
			r := isolate(t)
			canary := filepath.Join(r.top, "canary")
			filter := "touch " + canary + "; cat"
			for _, kv := range [][2]string{
				{"filter.evil.clean", filter}, {"filter.evil.smudge", filter}, {"filter.evil.required", "true"},
				{"core.safecrlf", "true"},
			} {
				r.git("config", kv[0], kv[1])
			}
			if auto != "" {
				r.git("config", "core.autocrlf", auto)
				r.git("config", "core.safecrlf", "false")
			}
			files := map[string]string{
				"crlf.txt": "a\r\nb\r\n", "lf.txt": "a\nb\n", "mixed.txt": "a\r\nb\n", "bin": "\x00\x01\r\n\xff",
				"id.c": "$Id: x $\n", "none": "", "u16.txt": "\xff\xfea\x00\r\x00\n\x00",
				"big.dat": "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 3\n",
			}
			for name, content := range files {
				r.write(name, content)
			}
			r.write(".gitattributes", "*.txt text=auto\nu16.txt working-tree-encoding=UTF-16 text\n*.c ident\n")
			if auto == "" {
				r.git("config", "core.safecrlf", "false")
			}
			r.commitAll("first")
			r.write(".gitattributes", "*.txt text eol=lf\nu16.txt working-tree-encoding=UTF-16\n*.c ident\n*.dat filter=evil\n* filter=evil\n")
			files[".gitattributes"] = r.files(r.dir)[".gitattributes"]
			r.write("new.txt", "x\r\ny\r\n")
			files["new.txt"] = "x\r\ny\r\n"
			_ = os.Remove(canary)
			snap := r.take(nil)
			r.same("snapshot", r.held(snap), files)
			for name := range files {
				r.remove(name)
			}
			r.restore(snap)
			r.same("restored", r.files(r.dir), files)
			if _, err := os.Stat(canary); err == nil {
				t.Error("a filter ran")
			}
		})
	}
}

func TestTakeSkipsAndNames(t *testing.T) {
	r := isolate(t)
	r.store = r.open(1 << 10)
	r.write("big-tracked", strings.Repeat("x", 4000))
	r.write("small", "s")
	r.commitAll("first")
	r.write("big-new", strings.Repeat("y", 1025))
	r.write("fits", strings.Repeat("y", 1024))
	r.gitIn(r.dir, "init", "-q", "nested")
	r.writeIn(filepath.Join(r.dir, "nested"), "inner", "x", 0o644)
	r.write("sub/git~1", "x")
	if err := unix.Mkfifo(filepath.Join(r.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	snap := r.take(nil)
	held := r.held(snap)
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
	r.write("small", "changed")
	r.write("big-tracked", strings.Repeat("z", 5000))
	later := r.take(&snap)
	if _, found := r.held(later)["big-tracked"]; found || len(later.Skipped) != 4 {
		t.Errorf("a tracked file that grew over the limit: %+v", later.Skipped)
	}
	// Restoring does not touch what no snapshot holds.
	r.restore(snap)
	now := r.files(r.dir)
	if now["big-tracked"] != strings.Repeat("z", 5000) || now["big-new"] != strings.Repeat("y", 1025) || now["small"] != "s" {
		t.Error("a restore touched a file that was not saved")
	}
}

func TestTakeUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root reads everything: the permission half is skipped; run it as another user with: go test ./checkpoint/snapshot")
		return
	}
	r := isolate(t)
	r.write("a", "a")
	r.commitAll("first")
	r.write("closed", "x")
	if err := os.Chmod(filepath.Join(r.dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	snap := r.take(nil)
	if len(snap.Skipped) != 1 || snap.Skipped[0] != (thread.Skip{Path: "closed", Reason: "cannot be read"}) {
		t.Errorf("skipped %+v", snap.Skipped)
	}
}

func TestTakeOfEveryKindOfRepository(t *testing.T) {
	ctx := context.Background()
	t.Run("unborn", func(t *testing.T) {
		r := isolate(t)
		r.write("a", "a")
		snap := r.take(nil)
		if snap.Base != "" || r.held(snap)["a"] != "a" {
			t.Errorf("%+v", snap)
		}
	})
	t.Run("empty", func(t *testing.T) {
		r := isolate(t)
		if snap := r.take(nil); snap.Commit == "" {
			t.Errorf("%+v", snap)
		}
	})
	t.Run("detached", func(t *testing.T) {
		r := isolate(t)
		r.write("a", "a")
		c := r.commitAll("first")
		r.git("checkout", "-q", "--detach")
		if snap := r.take(nil); snap.Base != c {
			t.Errorf("%+v", snap)
		}
	})
	t.Run("sha256", func(t *testing.T) {
		r := newRepo(t, t.TempDir(), "--object-format=sha256")
		r.write("a", "a")
		r.write("b", "b")
		r.commitAll("first")
		r.remove("b")
		snap := r.take(nil)
		r.same("snapshot", r.held(snap), map[string]string{"a": "a"})
		r.write("b", "c")
		r.take(nil)
		r.restore(snap)
		r.same("restored", r.files(r.dir), map[string]string{"a": "a"})
	})
	t.Run("in a merge conflict", func(t *testing.T) {
		r := isolate(t)
		r.write("a", "a\n")
		r.write("b", "b\n")
		r.commitAll("first")
		r.git("checkout", "-q", "-b", "side")
		r.write("a", "side\n")
		r.commitAll("side")
		r.git("checkout", "-q", "main")
		r.write("a", "main\n")
		r.commitAll("main")
		cmdErr := r.try("merge", "-q", "side")
		if cmdErr == nil {
			t.Fatal("no conflict")
		}
		want := r.files(r.dir)
		before := r.visible()
		r.same("snapshot", r.held(r.take(nil)), want)
		if r.visible() != before {
			t.Error("the conflict in the index is gone")
		}
	})
	t.Run("split index", func(t *testing.T) {
		r := isolate(t)
		r.write("a", "a\n")
		r.write("b", "b\n")
		r.commitAll("first")
		r.git("update-index", "--split-index")
		r.write("a", "changed\n")
		r.same("snapshot", r.held(r.take(nil)), map[string]string{"a": "changed\n", "b": "b\n"})
	})
	t.Run("sparse", func(t *testing.T) {
		r := isolate(t)
		r.write("in/a", "a\n")
		r.write("out/b", "b\n")
		r.commitAll("first")
		r.git("sparse-checkout", "set", "in")
		r.same("snapshot", r.held(r.take(nil)), map[string]string{"in/a": "a\n", "out/b": "b\n"})
		r.git("sparse-checkout", "set", "out")
		r.same("snapshot", r.held(r.take(nil)), map[string]string{"in/a": "a\n", "out/b": "b\n"})
	})
	t.Run("flags that hide changes", func(t *testing.T) {
		r := isolate(t)
		r.write("a", "a\n")
		r.write("b", "b\n")
		r.commitAll("first")
		r.git("update-index", "--assume-unchanged", "a")
		r.git("update-index", "--skip-worktree", "b")
		r.write("a", "x\n")
		r.write("b", "y\n")
		r.same("snapshot", r.held(r.take(nil)), map[string]string{"a": "x\n", "b": "y\n"})
	})
	t.Run("bare", func(t *testing.T) {
		r := isolate(t)
		r.git("clone", "-q", "--bare", r.dir, filepath.Join(r.top, "bare"))
		if _, err := r.store.Take(ctx, "t1", filepath.Join(r.top, "bare"), nil); !errors.Is(err, git.ErrBare) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		r := isolate(t)
		if _, err := r.store.Take(ctx, "t1", r.top, nil); !errors.Is(err, thread.ErrNoRepository) {
			t.Errorf("err = %v", err)
		}
		if _, err := r.store.Take(ctx, "t1", filepath.Join(r.top, "missing"), nil); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("subfolder and worktree inside a worktree", func(t *testing.T) {
		r := isolate(t)
		r.write("a/b", "b")
		r.commitAll("first")
		r.git("worktree", "add", "-q", "-b", "other", "inner")
		r.writeIn(filepath.Join(r.dir, "inner"), "c", "c", 0o644)
		outer, inner := r.takeIn(filepath.Join(r.dir, "a"), nil), r.takeIn(filepath.Join(r.dir, "inner"), nil)
		r.same("outer", r.held(outer), map[string]string{"a/b": "b"})
		r.same("inner", r.held(inner), map[string]string{"a/b": "b", "c": "c"})
		if len(outer.Skipped) != 1 {
			t.Errorf("skipped %+v", outer.Skipped)
		}
	})
	t.Run("submodule", func(t *testing.T) {
		r := isolate(t)
		r.git("init", "-q", "-b", "main", filepath.Join(r.top, "lib"))
		lib := filepath.Join(r.top, "lib")
		r.writeIn(lib, "l", "l", 0o644)
		r.gitIn(lib, "add", "l")
		r.gitIn(lib, "commit", "-q", "-m", "lib")
		r.write("a", "a")
		r.take(nil) // so that our index is older than the submodule
		r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "vendor/lib")
		r.commitAll("first")
		head := r.gitIn(lib, "rev-parse", "HEAD")
		r.writeIn(filepath.Join(r.dir, "vendor/lib"), "dirty", "d", 0o644)
		snap := r.take(nil)
		if got := r.held(snap)["vendor/lib"]; got != "repo "+head {
			t.Errorf("vendor/lib = %q", got)
		}
		sub := filepath.Join(r.dir, "vendor/lib")
		r.gitIn(sub, "commit", "-q", "--allow-empty", "-m", "on")
		moved := r.take(&snap)
		if got := r.held(moved)["vendor/lib"]; got != "repo "+r.gitIn(sub, "rev-parse", "HEAD") {
			t.Errorf("vendor/lib = %q after it moved on", got)
		}
		safety := r.restore(snap)
		if len(safety.Skipped) != 1 || r.files(sub)["dirty"] != "d" {
			t.Errorf("the submodule was touched or not named: %+v", safety.Skipped)
		}
		if in := r.takeIn(sub, nil); r.held2(sub, in)["dirty"] != "d" {
			t.Error("inside the submodule its own files count")
		}
	})
}

func TestTakeBadThread(t *testing.T) {
	r := isolate(t)
	for _, id := range []thread.ID{"", "../x", "-c", "a/b", "a b", "a\x00", thread.ID(strings.Repeat("a", 65)), "a.lock"} {
		if _, err := r.store.Take(context.Background(), id, r.dir, nil); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestTakeAfterPrune takes snapshots while the person's git throws away what no ref keeps.
func TestTakeAfterPrune(t *testing.T) {
	r := isolate(t)
	r.write("a", "a\n")
	r.commitAll("first")
	r.write("b", "only in a snapshot\n")
	snap := r.take(nil)
	if err := r.store.Drop(context.Background(), "t1"); err != nil {
		t.Fatal(err)
	}
	r.git("gc", "-q", "--prune=now")
	if err := r.try("cat-file", "-e", snap.Commit); err == nil {
		t.Fatal("the dropped snapshot is still there")
	}
	again := r.take(nil)
	r.same("snapshot", r.held(again), map[string]string{"a": "a\n", "b": "only in a snapshot\n"})
	r.git("gc", "-q", "--prune=now")
	r.same("snapshot after gc", r.held(again), map[string]string{"a": "a\n", "b": "only in a snapshot\n"})
	if n, err := r.store.Size(context.Background()); err != nil || n <= 0 {
		t.Errorf("size = %d, %v", n, err)
	}
}
