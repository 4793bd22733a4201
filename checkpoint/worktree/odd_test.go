package worktree_test

import (
	"errors"
	"orchestrator/thread/ground/sample"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOddFiles puts something else than a file where git looks for what makes a worktree one, and a HEAD that leads
// nowhere: nothing waits, each is named with the way out, and that way works.
func TestOddFiles(t *testing.T) {
	pipe := func(file string) error { return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600)) }
	link := func(file string) error { return errors.Join(os.Remove(file), os.Symlink("/dev/null", file)) }
	folder := func(file string) error {
		return errors.Join(os.Remove(file), os.Mkdir(file, 0o700), os.WriteFile(filepath.Join(file, "x"), nil, 0o600))
	}
	for what, change := range sample.In(t, 2, map[string]func(string) error{"pipe": pipe, "link": link, "folder": folder}) {
		for _, name := range []string{".git", "index", "HEAD"} {
			t.Run(what+" "+name, func(t *testing.T) {
				t.Parallel()
				r := isolate(t)
				wt, last := r.fork()
				file := filepath.Join(r.Dir, ".git/worktrees/fork", name)
				if name == ".git" {
					file = filepath.Join(wt.Path, name)
				}
				if err := change(file); err != nil {
					t.Fatal(err)
				}
				r.Store = r.Open(0)
				said, err := r.Store.Repair(t.Context())
				if text := strings.Join(said, "\n"); err != nil || !strings.Contains(text, file+" is not a file; move it away") {
					t.Errorf("repair: %q %v", said, err)
				}
				if err := os.RemoveAll(file); err != nil {
					t.Fatal(err)
				}
				if said, err := r.Store.Repair(t.Context()); err != nil || len(said) != 1 || !strings.Contains(said[0], "rebuilt") {
					t.Errorf("after it was moved away: %q %v", said, err)
				}
				if _, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for what, text := range map[string]string{"no link": "{}\n", "another place": "gitdir: /nowhere\n",
		"a letter": "gitdir; x\n"} {
		t.Run(".git with "+what, func(t *testing.T) {
			t.Parallel()
			r := isolate(t)
			wt, last := r.fork()
			file := filepath.Join(wt.Path, ".git")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r.Store = r.Open(0)
			said, err := r.Store.Repair(t.Context())
			if err != nil || len(said) != 1 || !strings.Contains(said[0],
				file+" does not point to its repository; move it away") {
				t.Errorf("repair: %q %v", said, err)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if said, err := r.Store.Repair(t.Context()); err != nil || len(said) != 1 || !strings.Contains(said[0], "rebuilt") {
				t.Errorf("after it was moved away: %q %v", said, err)
			}
			if _, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("our own", func(t *testing.T) {
		r := isolate(t)
		wt, last := r.fork()
		homes, err := filepath.Glob(filepath.Join(r.Top, "state/own/*/stamp"))
		if err != nil || len(homes) != 2 {
			t.Fatalf("%v %v", homes, err)
		}
		for _, stamp := range homes {
			for name, change := range map[string]func(string) error{"stamp": pipe, "meta.json": folder, "index": pipe,
				"lock": link, "shadow/config": folder, "view/config": folder} {
				if err := change(filepath.Join(filepath.Dir(stamp), name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Store = r.Open(0)
		if said, err := r.Store.Repair(t.Context()); err != nil || len(said) != 0 {
			t.Errorf("repair: %q %v", said, err)
		}
		if _, err := r.Store.Take(t.Context(), "t2", wt.Path, &last); err != nil {
			t.Error(err)
		}
	})
	t.Run("HEAD of another name", func(t *testing.T) {
		r := isolate(t)
		wt, _ := r.fork()
		head := filepath.Join(r.Dir, ".git/worktrees/fork/HEAD")
		if err := os.WriteFile(head, []byte("ref: refs/heads/orchestrator/nork\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.Store = r.Open(0)
		said, err := r.Store.Repair(t.Context())
		if err != nil || len(said) != 1 || !strings.Contains(said[0],
			"git -C "+wt.Path+" symbolic-ref HEAD refs/heads/orchestrator/fork") {
			t.Fatalf("repair: %q %v", said, err)
		}
		r.GitIn(wt.Path, "symbolic-ref", "HEAD", "refs/heads/orchestrator/fork")
		if said, err := r.Store.Repair(t.Context()); err != nil || len(said) != 0 {
			t.Errorf("after that: %q %v", said, err)
		}
	})
}
