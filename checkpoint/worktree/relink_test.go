package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/thread"
)

// TestMoved moves the project, the folder of worktrees, the state, or all of them: the next start links both sides
// again, and all works as before.
func TestMoved(t *testing.T) {
	move := func(t *testing.T, from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, moved := range map[string]func(*testing.T, *repo){
		"the project": func(t *testing.T, r *repo) {
			move(t, r.Dir, r.Dir+"-moved")
			r.Dir += "-moved"
		},
		"the worktrees": func(t *testing.T, r *repo) {
			move(t, r.Trees(), r.Trees()+"-moved")
			r.TreesDir = r.Trees() + "-moved"
		},
		"both": func(t *testing.T, r *repo) {
			move(t, r.Dir, r.Dir+"-moved")
			move(t, r.Trees(), r.Trees()+"-moved")
			r.Dir, r.TreesDir = r.Dir+"-moved", r.Trees()+"-moved"
		},
		"all that there is": func(t *testing.T, r *repo) {
			move(t, r.Top, r.Top+"-moved")
			r.Top, r.Dir = r.Top+"-moved", filepath.Join(r.Top+"-moved", "project")
			r.Env = snapshottest.Env(filepath.Join(r.Top, "home"))
			t.Cleanup(func() { os.RemoveAll(r.Top) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := isolate(t)
			wt, last := r.fork()
			moved(t, r)
			said := r.repair()
			wt.Path = filepath.Join(r.Trees(), "fork")
			if !strings.Contains(said, "relinked worktree "+wt.Path) {
				t.Errorf("said %q", said)
			}
			if made, err := r.Store.Finder.Made(t.Context()); err != nil || made["t2"] != wt {
				t.Errorf("made %+v %v", made, err)
			}
			if said := r.repair(); said != "" {
				t.Errorf("said again %q", said)
			}
			r.works(wt, last)
		})
	}
}

// TestMovedInTheMiddle moves the project while operations are cut off: their journals name no place, and are finished
// where things lie now.
func TestMovedInTheMiddle(t *testing.T) {
	r := isolate(t)
	wt, last := r.fork()
	if err := os.Rename(r.Dir, r.Dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	r.Dir += "-moved"
	r.journal("own", `{"id":"aaaa","kind":"restore","thread":"t2","worktree":"fork","target":{"commit":"`+last.Commit+`","tree":"`+last.Tree+`"}}`)
	r.WriteIn(wt.Path, "a", "half restored\n", 0o644)
	if said := r.repair(); !strings.Contains(said, "completed restoring the files of "+wt.Path) {
		t.Errorf("said %q", said)
	}
	r.works(wt, last)
}

// TestRelinkLeavesOthersAlone: a worktree that another repository has by now, or whose .git file an agent has written,
// is not taken over.
func TestRelinkLeavesOthersAlone(t *testing.T) {
	t.Run("claimed", func(t *testing.T) {
		r := isolate(t)
		wt, _ := r.fork()
		// The project is copied, and the person's git links the worktree to the copy.
		copied := filepath.Join(r.Top, "copied")
		if err := os.CopyFS(copied, os.DirFS(r.Dir)); err != nil {
			t.Fatal(err)
		}
		r.GitIn(copied, "worktree", "repair", wt.Path)
		before, err := os.ReadFile(filepath.Join(wt.Path, ".git"))
		if err != nil || !strings.Contains(string(before), copied) {
			t.Fatalf("%s %v", before, err)
		}
		if said := r.repair(); !strings.Contains(said, "belongs to the repository of "+copied) {
			t.Errorf("said %q", said)
		}
		if after, err := os.ReadFile(filepath.Join(wt.Path, ".git")); err != nil || string(after) != string(before) {
			t.Errorf("taken back: %s %v", after, err)
		}
	})
	t.Run("written by an agent", func(t *testing.T) {
		r := isolate(t)
		wt, _ := r.fork()
		evil := filepath.Join(r.Top, "evil")
		r.Git("init", "-q", evil)
		for _, to := range []string{evil + "/.git", "/etc", filepath.Join(r.Top, "nowhere")} {
			r.WriteIn(wt.Path, ".git", "gitdir: "+to+"\n", 0o644)
			if said := r.repair(); strings.Contains(said, "linked") {
				t.Errorf("%s: said %q", to, said)
			}
			if _, err := r.Store.Take(t.Context(), "t2", wt.Path, nil); err == nil {
				t.Errorf("%s: taken", to)
			}
			if _, err := r.Store.Remove(t.Context(), "t2", wt); err == nil {
				t.Errorf("%s: removed", to)
			}
		}
	})
}

// TestNewPlaceForWorktrees: worktrees that were made elsewhere before the setting changed go on working.
func TestNewPlaceForWorktrees(t *testing.T) {
	r := isolate(t)
	wt, last := r.fork()
	r.TreesDir = filepath.Join(r.Top, "elsewhere")
	if said := r.repair(); said != "" {
		t.Errorf("said %q", said)
	}
	if fork, err := r.Store.Add(t.Context(), "t4", r.Dir, "new", last); err != nil ||
		fork.Path != filepath.Join(r.TreesDir, "new") {
		t.Errorf("%+v %v", fork, err)
	} else if _, err := r.Store.Remove(t.Context(), "t4", fork); err != nil {
		t.Error(err)
	}
	r.works(wt, last)
}

// TestNameTakenByThePerson: our worktree is removed by hand, and the person makes another one that git gives the same
// name. It is not ours.
func TestNameTakenByThePerson(t *testing.T) {
	r := isolate(t)
	wt, _ := r.fork()
	r.Git("worktree", "remove", "--force", wt.Path)
	theirs := filepath.Join(r.Top, "theirs/fork")
	r.Git("worktree", "add", "-q", "-b", "theirs", theirs)
	part := filepath.Join(r.Dir, ".git/worktrees/fork")
	for name, content := range map[string]string{
		"no marker": "", "another's marker": `{"id":"0123456789abcdef"}`, "no id": `{}`,
	} {
		if content != "" {
			r.WriteIn(part, "orchestrator.json", content, 0o600)
		}
		if said := r.repair(); said != "" {
			t.Errorf("%s: said %q", name, said)
		}
		if list, err := r.Store.Finder.List(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%s: listed %+v %v", name, list, err)
		}
		for _, path := range []string{theirs, wt.Path} {
			if _, err := r.Store.Remove(t.Context(), "t2", thread.Worktree{Path: path}); err == nil {
				t.Errorf("%s: removed %s", name, path)
			}
		}
		r.GitIn(theirs, "status")
	}
}
