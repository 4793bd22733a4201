package git_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrator/checkpoint/git"
)

// TestUnlinked: a repository through whose files git would write somewhere else is refused, and one that only has links
// to read is not.
func TestUnlinked(t *testing.T) {
	g, err := git.New()
	if err != nil {
		t.Fatal(err)
	}
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	link := func(name string, folder bool) func(root, other string) string {
		return func(root, other string) string {
			at, to := filepath.Join(root, ".git", name), filepath.Join(other, "victim")
			if folder {
				if err := os.Mkdir(to, 0o700); err != nil {
					t.Fatal(err)
				}
				if entries, _ := os.ReadDir(at); len(entries) > 0 { // what was there works through the link too
					_ = os.Remove(to)
					if err := os.Rename(at, to); err != nil {
						t.Fatal(err)
					}
				}
			} else if b, err := os.ReadFile(at); err == nil {
				if err := os.WriteFile(to, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_ = os.RemoveAll(at)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, at); err != nil {
				t.Fatal(err)
			}
			return root
		}
	}
	put := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(root, other string) string // the worktree to look at
		want error
	}{
		"as it is":             {func(root, _ string) string { return root }, nil},
		"COMMIT_EDITMSG":       {link("COMMIT_EDITMSG", false), git.ErrLink},
		"index":                {link("index", false), git.ErrLink},
		"HEAD":                 {link("HEAD", false), git.ErrLink},
		"packed-refs":          {link("packed-refs", false), git.ErrLink},
		"config.lock":          {link("config.lock", false), git.ErrLink},
		"logs/HEAD":            {link("logs/HEAD", false), git.ErrLink},
		"a branch's log":       {link("logs/refs/heads/main", false), git.ErrLink},
		"logs of branches":     {link("logs/refs/heads", true), git.ErrLink},
		"logs":                 {link("logs", true), git.ErrLink},
		"objects":              {link("objects", true), git.ErrLink},
		"objects/ab":           {link("objects/ab", true), git.ErrLink},
		"refs":                 {link("refs", true), git.ErrLink},
		"refs/orchestrator":    {link("refs/orchestrator", true), git.ErrLink},
		"refs/heads/x":         {link("refs/heads/x", true), git.ErrLink},
		"worktrees":            {link("worktrees", true), git.ErrLink},
		"hooks, which we read": {link("hooks", true), nil},
		"a symbolic HEAD": {func(root, _ string) string {
			head := filepath.Join(root, ".git", "HEAD")
			_ = os.Remove(head)
			if err := os.Symlink("refs/heads/main", head); err != nil {
				t.Fatal(err)
			}
			return root
		}, nil},
		"commondir": {func(root, other string) string {
			put(t, filepath.Join(root, ".git", "commondir"), filepath.Join(other, ".git"))
			return root
		}, git.ErrForeign},
		"another's repository": {func(root, other string) string {
			_ = os.RemoveAll(filepath.Join(root, ".git"))
			put(t, filepath.Join(root, ".git"), "gitdir: "+filepath.Join(other, ".git"))
			return root
		}, git.ErrForeign},
		"another's worktree": {func(root, other string) string {
			tree := filepath.Join(t.TempDir(), "tree")
			run(other, "worktree", "add", "-q", tree)
			_ = os.RemoveAll(filepath.Join(root, ".git"))
			b, err := os.ReadFile(filepath.Join(tree, ".git"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(root, ".git"), string(b))
			return root
		}, git.ErrForeign},
		"a worktree": {func(root, _ string) string {
			tree := filepath.Join(t.TempDir(), "tree")
			run(root, "worktree", "add", "-q", tree)
			return tree
		}, nil},
		"a worktree that was moved": {func(root, _ string) string {
			dir := t.TempDir()
			run(root, "worktree", "add", "-q", filepath.Join(dir, "tree"))
			if err := os.Rename(filepath.Join(dir, "tree"), filepath.Join(dir, "moved")); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "moved")
		}, nil},
		"a repository that lies elsewhere": {func(_, other string) string {
			run(other, "init", "-q", "--separate-git-dir", filepath.Join(other, "kept"), "apart")
			return filepath.Join(other, "apart")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root, other := t.TempDir(), t.TempDir()
			for _, dir := range []string{root, other} {
				run(dir, "init", "-q", "-b", "main")
				run(dir, "commit", "-q", "--allow-empty", "-m", "one")
			}
			w, err := git.Find(c.make(root, other))
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Check(t.Context(), w); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
