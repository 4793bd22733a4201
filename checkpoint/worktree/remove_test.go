package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
)

func TestRemoveSavesEverything(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.Store = r.Open(100)
	r.Write("a", "a\n")
	r.Write(".gitignore", ".env\n")
	r.CommitAll("first")
	wt := r.Add("fork", r.Take(nil))
	r.WriteIn(wt.Path, "a", "work\n", 0o644)
	r.WriteIn(wt.Path, "new", "untracked\n", 0o644)
	r.WriteIn(wt.Path, "huge", strings.Repeat("h", 5000), 0o644)
	r.WriteIn(wt.Path, ".env", "edited secret", 0o600)
	saved, err := r.Store.Remove(ctx, "t2", wt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(wt.Path); !os.IsNotExist(err) {
		t.Error("it is still there")
	}
	r.Git("gc", "-q", "--prune=now")
	r.Same("saved", r.Held(saved), map[string]string{
		"a": "work\n", "new": "untracked\n", "huge": strings.Repeat("h", 5000), ".gitignore": ".env\n",
	})
	trash, err := filepath.Glob(filepath.Join(r.Top, "trees/.trash/*/.env"))
	if err != nil || len(trash) != 1 {
		t.Fatalf("the ignored file is not in the trash: %v %v", trash, err)
	}
	if n, err := r.Store.EmptyTrash(time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("emptied too early: %d %v", n, err)
	}
	if n, err := r.Store.EmptyTrash(time.Now().Add(time.Hour)); n == 0 || err != nil {
		t.Errorf("not emptied: %d %v", n, err)
	}
	// And it comes back, branch and all.
	back := r.Add("fork", saved)
	r.Same("back", r.Files(back.Path), r.Held(saved))
}

func TestRemoveKeepsCommits(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	r.CommitAll("first")
	wt := r.Add("fork", r.Take(nil))
	r.WriteIn(wt.Path, "b", "b\n", 0o644)
	r.GitIn(wt.Path, "add", "b")
	r.GitIn(wt.Path, "commit", "-q", "-m", "work")
	tip := r.GitIn(wt.Path, "rev-parse", "HEAD")
	saved, err := r.Store.Remove(context.Background(), "t2", wt)
	if err != nil || saved.Base != tip || r.Git("rev-parse", wt.Branch) != tip {
		t.Errorf("%+v %v", saved, err)
	}
}

// TestRemoveKeepsReusedBranch: what an earlier worktree's branch has stays, although nothing was added to it in this one.
func TestRemoveKeepsReusedBranch(t *testing.T) {
	for name, missing := range map[string]bool{"there": false, "its folder is gone": true} {
		t.Run(name, func(t *testing.T) {
			r := isolate(t)
			ctx := context.Background()
			r.Write("a", "a\n")
			r.CommitAll("first")
			wt := r.Add("fork", r.Take(nil))
			r.WriteIn(wt.Path, "b", "b\n", 0o644)
			r.GitIn(wt.Path, "add", "b")
			r.GitIn(wt.Path, "commit", "-q", "-m", "work")
			tip := r.GitIn(wt.Path, "rev-parse", "HEAD")
			saved, err := r.Store.Remove(ctx, "t2", wt)
			if err != nil {
				t.Fatal(err)
			}
			wt = r.Add("fork", saved)
			if missing {
				if err := os.RemoveAll(wt.Path); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Store.Remove(ctx, "t2", wt); err != nil {
				t.Fatal(err)
			}
			if got := r.Git("for-each-ref", "--format=%(objectname)", "refs/heads/"+wt.Branch); got != tip {
				t.Errorf("the branch is at %q, want %s", got, tip)
			}
		})
	}
}

func TestRemoveRefuses(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.Write("a", "a\n")
	r.CommitAll("first")
	snap := r.Take(nil)
	theirs := filepath.Join(r.Top, "theirs")
	r.Git("worktree", "add", "-q", "-b", "theirs", theirs)
	locked := r.Add("locked", snap)
	r.Git("worktree", "lock", "--reason", "on a stick", locked.Path)
	for name, tc := range map[string]struct {
		path string
		err  error
	}{
		"the main worktree": {r.Dir, worktree.ErrNotOurs},
		"somebody else's":   {theirs, worktree.ErrNotOurs},
		"a locked one":      {locked.Path, worktree.ErrLocked},
		"a subfolder":       {filepath.Join(r.Dir, ".git"), nil},
		"a missing one":     {filepath.Join(r.Top, "nothing"), thread.ErrNotFound},
	} {
		_, err := r.Store.Remove(ctx, "t2", thread.Worktree{Path: tc.path})
		if err == nil || (tc.err != nil && !errors.Is(err, tc.err)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Try("-C", theirs, "status"); err != nil {
		t.Error(err)
	}
	if _, err := r.Store.Remove(ctx, "t2", locked); err == nil || !strings.Contains(err.Error(), "on a stick") {
		t.Errorf("the reason is missing: %v", err)
	}
}

func TestRemoveSparesSubmodules(t *testing.T) {
	r := isolate(t)
	lib := filepath.Join(r.Top, "lib")
	r.Git("init", "-q", "-b", "main", lib)
	r.WriteIn(lib, "l", "l", 0o644)
	r.GitIn(lib, "add", "l")
	r.GitIn(lib, "commit", "-q", "-m", "lib")
	r.Git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "vendor/lib")
	r.CommitAll("first")
	snap := r.Take(nil)

	plain := r.Add("plain", snap)
	if _, err := r.Store.Remove(t.Context(), "t2", plain); err != nil {
		t.Fatalf("one that is not checked out: %v", err)
	}

	refused := func(wt thread.Worktree, kept ...string) {
		t.Helper()
		_, err := r.Store.Remove(t.Context(), "t2", wt)
		if !errors.Is(err, worktree.ErrSubmodules) || !strings.Contains(err.Error(), "worktree remove --force") {
			t.Errorf("removed all the same: %v", err)
		}
		for _, path := range kept {
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("gone: %v", err)
			}
		}
	}
	wt := r.Add("deep", snap)
	r.GitIn(wt.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	sub := filepath.Join(wt.Path, "vendor/lib")
	r.GitIn(sub, "commit", "-q", "--allow-empty", "-m", "the agent's")
	r.WriteIn(sub, "dirty", "d", 0o644)
	refused(wt, filepath.Join(sub, "dirty"))
	modules := filepath.Join(r.Dir, ".git/worktrees/deep/modules/vendor/lib")
	if err := os.RemoveAll(sub); err != nil {
		t.Fatal(err)
	}
	refused(wt, modules)
	if err := os.RemoveAll(wt.Path); err != nil {
		t.Fatal(err)
	}
	refused(wt, modules)

	within := r.Add("within", snap) // an agent's own repository, committed as one
	r.Git("clone", "-q", lib, filepath.Join(within.Path, "cloned"))
	r.GitIn(within.Path, "-c", "advice.addEmbeddedRepo=false", "add", "cloned")
	refused(within, filepath.Join(within.Path, "cloned/.git"))
}
