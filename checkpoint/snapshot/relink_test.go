package snapshot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			move(t, r.dir, r.dir+"-moved")
			r.dir += "-moved"
		},
		"the worktrees": func(t *testing.T, r *repo) {
			move(t, r.trees(), r.trees()+"-moved")
			r.treesDir = r.trees() + "-moved"
		},
		"both": func(t *testing.T, r *repo) {
			move(t, r.dir, r.dir+"-moved")
			move(t, r.trees(), r.trees()+"-moved")
			r.dir, r.treesDir = r.dir+"-moved", r.trees()+"-moved"
		},
		"all that there is": func(t *testing.T, r *repo) {
			move(t, r.top, r.top+"-moved")
			r.top, r.dir = r.top+"-moved", filepath.Join(r.top+"-moved", "project")
			r.env = cleanEnv(filepath.Join(r.top, "home"))
			t.Cleanup(func() { os.RemoveAll(r.top) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := isolate(t)
			wt, last := r.fork()
			moved(t, r)
			said := r.repair()
			wt.Path = filepath.Join(r.trees(), "fork")
			if !strings.Contains(said, "linked the worktree "+wt.Path+" again") {
				t.Errorf("said %q", said)
			}
			if made, ok, err := r.store.Made(t.Context(), "t2"); err != nil || !ok || made != wt {
				t.Errorf("made %+v %t %v", made, ok, err)
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
	if err := os.Rename(r.dir, r.dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	r.dir += "-moved"
	r.journal("own", `{"id":"aaaa","kind":"restore","thread":"t2","worktree":"fork","target":{"commit":"`+last.Commit+`","tree":"`+last.Tree+`"}}`)
	r.writeIn(wt.Path, "a", "half restored\n", 0o644)
	if said := r.repair(); !strings.Contains(said, "finished restoring the files of "+wt.Path) {
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
		copied := filepath.Join(r.top, "copied")
		if err := os.CopyFS(copied, os.DirFS(r.dir)); err != nil {
			t.Fatal(err)
		}
		r.gitIn(copied, "worktree", "repair", wt.Path)
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
		evil := filepath.Join(r.top, "evil")
		r.git("init", "-q", evil)
		for _, to := range []string{evil + "/.git", "/etc", filepath.Join(r.top, "nowhere")} {
			r.writeIn(wt.Path, ".git", "gitdir: "+to+"\n", 0o644)
			if said := r.repair(); strings.Contains(said, "linked") {
				t.Errorf("%s: said %q", to, said)
			}
			if _, err := r.store.Take(t.Context(), "t2", wt.Path, nil); err == nil {
				t.Errorf("%s: taken", to)
			}
			if _, err := r.store.Remove(t.Context(), "t2", wt); err == nil {
				t.Errorf("%s: removed", to)
			}
		}
	})
}

// TestNewPlaceForWorktrees: worktrees that were made elsewhere before the setting changed go on working.
func TestNewPlaceForWorktrees(t *testing.T) {
	r := isolate(t)
	wt, last := r.fork()
	r.treesDir = filepath.Join(r.top, "elsewhere")
	if said := r.repair(); said != "" {
		t.Errorf("said %q", said)
	}
	if fork, err := r.store.Add(t.Context(), "t4", r.dir, "new", last); err != nil || fork.Path != filepath.Join(r.treesDir, "new") {
		t.Errorf("%+v %v", fork, err)
	} else if _, err := r.store.Remove(t.Context(), "t4", fork); err != nil {
		t.Error(err)
	}
	r.works(wt, last)
}

// TestNameTakenByThePerson: our worktree is removed by hand, and the person makes another one that git gives the same
// name. It is not ours.
func TestNameTakenByThePerson(t *testing.T) {
	r := isolate(t)
	wt, _ := r.fork()
	r.git("worktree", "remove", "--force", wt.Path)
	theirs := filepath.Join(r.top, "theirs/fork")
	r.git("worktree", "add", "-q", "-b", "theirs", theirs)
	part := filepath.Join(r.dir, ".git/worktrees/fork")
	for name, content := range map[string]string{
		"no marker": "", "another's marker": `{"id":"0123456789abcdef"}`, "no id": `{}`,
	} {
		if content != "" {
			r.writeIn(part, "orchestrator.json", content, 0o600)
		}
		if said := r.repair(); said != "" {
			t.Errorf("%s: said %q", name, said)
		}
		if list, err := r.store.List(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%s: listed %+v %v", name, list, err)
		}
		for _, path := range []string{theirs, wt.Path} {
			if _, err := r.store.Remove(t.Context(), "t2", thread.Worktree{Path: path}); err == nil {
				t.Errorf("%s: removed %s", name, path)
			}
		}
		r.gitIn(theirs, "status")
	}
}
