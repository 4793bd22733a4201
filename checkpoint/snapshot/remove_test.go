package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/snapshot"
	"orchestrator/thread"
)

func TestRemoveSavesEverything(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.store = r.open(100)
	r.write("a", "a\n")
	r.write(".gitignore", ".env\n")
	r.commitAll("first")
	wt := r.add("fork", r.take(nil))
	r.writeIn(wt.Path, "a", "work\n", 0o644)
	r.writeIn(wt.Path, "new", "untracked\n", 0o644)
	r.writeIn(wt.Path, "huge", strings.Repeat("h", 5000), 0o644)
	r.writeIn(wt.Path, ".env", "edited secret", 0o600)
	saved, err := r.store.Remove(ctx, "t2", wt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(wt.Path); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
	r.git("gc", "-q", "--prune=now")
	r.same("saved", r.held(saved), map[string]string{
		"a": "work\n", "new": "untracked\n", "huge": strings.Repeat("h", 5000), ".gitignore": ".env\n",
	})
	trash, err := filepath.Glob(filepath.Join(r.top, "trees/.trash/*/.env"))
	if err != nil || len(trash) != 1 {
		t.Fatalf("the ignored file is not in the trash: %v %v", trash, err)
	}
	if n, err := r.store.EmptyTrash(time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("emptied too early: %d %v", n, err)
	}
	if n, err := r.store.EmptyTrash(time.Now().Add(time.Hour)); n == 0 || err != nil {
		t.Errorf("not emptied: %d %v", n, err)
	}
	// And it comes back, branch and all.
	back := r.add("fork", saved)
	r.same("back", r.files(back.Path), r.held(saved))
}

func TestRemoveKeepsCommits(t *testing.T) {
	r := isolate(t)
	r.write("a", "a\n")
	r.commitAll("first")
	wt := r.add("fork", r.take(nil))
	r.writeIn(wt.Path, "b", "b\n", 0o644)
	r.gitIn(wt.Path, "add", "b")
	r.gitIn(wt.Path, "commit", "-q", "-m", "work")
	tip := r.gitIn(wt.Path, "rev-parse", "HEAD")
	saved, err := r.store.Remove(context.Background(), "t2", wt)
	if err != nil || saved.Base != tip || r.git("rev-parse", wt.Branch) != tip {
		t.Errorf("%+v %v", saved, err)
	}
}

func TestRemoveRefuses(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.write("a", "a\n")
	r.commitAll("first")
	snap := r.take(nil)
	theirs := filepath.Join(r.top, "theirs")
	r.git("worktree", "add", "-q", "-b", "theirs", theirs)
	locked := r.add("locked", snap)
	r.git("worktree", "lock", "--reason", "on a stick", locked.Path)
	for name, tc := range map[string]struct {
		path string
		err  error
	}{
		"the main worktree": {r.dir, snapshot.ErrNotOurs},
		"somebody else's":   {theirs, snapshot.ErrNotOurs},
		"a locked one":      {locked.Path, snapshot.ErrLocked},
		"a subfolder":       {filepath.Join(r.dir, ".git"), nil},
		"a missing one":     {filepath.Join(r.top, "nothing"), thread.ErrNotFound},
	} {
		_, err := r.store.Remove(ctx, "t2", thread.Worktree{Path: tc.path})
		if err == nil || (tc.err != nil && !errors.Is(err, tc.err)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.try("-C", theirs, "status"); err != nil {
		t.Error(err)
	}
	if _, err := r.store.Remove(ctx, "t2", locked); err == nil || !strings.Contains(err.Error(), "on a stick") {
		t.Errorf("the reason is missing: %v", err)
	}
}

func TestRemoveSparesSubmodules(t *testing.T) {
	r := isolate(t)
	lib := filepath.Join(r.top, "lib")
	r.git("init", "-q", "-b", "main", lib)
	r.writeIn(lib, "l", "l", 0o644)
	r.gitIn(lib, "add", "l")
	r.gitIn(lib, "commit", "-q", "-m", "lib")
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "vendor/lib")
	r.commitAll("first")
	snap := r.take(nil)

	plain := r.add("plain", snap)
	if _, err := r.store.Remove(t.Context(), "t2", plain); err != nil {
		t.Fatalf("one that is not checked out: %v", err)
	}

	refused := func(wt thread.Worktree, kept ...string) {
		t.Helper()
		_, err := r.store.Remove(t.Context(), "t2", wt)
		if !errors.Is(err, snapshot.ErrSubmodules) || !strings.Contains(err.Error(), "worktree remove --force") {
			t.Errorf("removed all the same: %v", err)
		}
		for _, path := range kept {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("gone: %v", err)
			}
		}
	}
	wt := r.add("deep", snap)
	r.gitIn(wt.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	sub := filepath.Join(wt.Path, "vendor/lib")
	r.gitIn(sub, "commit", "-q", "--allow-empty", "-m", "the agent's")
	r.writeIn(sub, "dirty", "d", 0o644)
	refused(wt, filepath.Join(sub, "dirty"))
	modules := filepath.Join(r.dir, ".git/worktrees/deep/modules/vendor/lib")
	if err := os.RemoveAll(sub); err != nil {
		t.Fatal(err)
	}
	refused(wt, modules)
	if err := os.RemoveAll(wt.Path); err != nil {
		t.Fatal(err)
	}
	refused(wt, modules)

	within := r.add("within", snap) // an agent's own repository, committed as one
	r.git("clone", "-q", lib, filepath.Join(within.Path, "cloned"))
	r.gitIn(within.Path, "-c", "advice.addEmbeddedRepo=false", "add", "cloned")
	refused(within, filepath.Join(within.Path, "cloned/.git"))
}
