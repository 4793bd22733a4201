package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/git/gittest"
	"orchestrator/thread"
)

// odd is a file that is put into a repository with one commit and a worktree, "W" for its part.
type odd struct {
	name string
	make func(t *testing.T, path string)
}

func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func huge(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
}

func device(t *testing.T, path string) {
	t.Helper()
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Fatal(err)
	}
}

// calls are some of each kind that we make.
var calls = [][]string{
	{"rev-parse", "--is-inside-work-tree"}, {"config", "--list", "--show-scope", "--includes", "-z"},
	{"rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"}, {"for-each-ref"},
	{"symbolic-ref", "-q", "HEAD"},
	{"status", "--porcelain", "-z", "--untracked-files=all"}, {"ls-files", "-z", "--others", "--exclude-standard"},
	{"check-attr", "-a", "--", "sub/a.txt"}, {"worktree", "list", "--porcelain"}, {"rev-list", "--all", "--"},
	{"update-ref", "refs/orchestrator/x/1", "HEAD"}, {"diff-files", "--raw", "-z"}, {"log", "-1", "-g"},
}

// TestEndless: whatever in a repository never ends, every call ends soon, and one of them names the file.
func TestEndless(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	for _, o := range []odd{
		{".git/HEAD", pipe}, {".git/config", pipe}, {".git/index", pipe}, {".git/packed-refs", pipe}, {".git/shallow", pipe},
		{".git/commondir", pipe}, {".git/refs/heads/main", pipe}, {".git/refs/heads/deep/er", pipe},
		{".git/refs/tags/x", pipe},
		{".git/refs/orchestrator/aa/1", pipe}, {".git/info/exclude", pipe}, {".git/info/attributes", pipe},
		{".git/info/grafts", pipe},
		{".git/objects/info/alternates", pipe}, {".git/objects/info/commit-graph", pipe}, {".git/logs/HEAD", pipe},
		{".git/logs/refs/heads/main", pipe},
		{".git/worktrees/W/HEAD", pipe}, {".git/worktrees/W/gitdir", pipe}, {".git/worktrees/W/locked", pipe},
		{".git/worktrees/W/commondir", pipe},
		{".git/objects/pack/pack-x.idx", pipe}, {".git/objects/pack/multi-pack-index", pipe},
		{".gitignore", pipe}, {".gitattributes", pipe}, {".gitmodules", pipe}, {"sub/.gitignore", pipe},
		{"sub/.gitattributes", pipe},
		{".git/HEAD", device}, {".git/info/exclude", device}, {".git/refs/heads/main", device}, {".git/packed-refs", device},
		{".git/HEAD", huge}, {".git/config", huge}, {".git/index", huge}, {".git/packed-refs", huge},
		{".git/objects/info/alternates", huge},
	} {
		dir := filepath.Join(t.TempDir(), "p")
		path := filepath.Join(dir, o.name)
		t.Run(strings.ReplaceAll(o.name, "/", " ")+filepath.Ext(t.Name()), func(t *testing.T) {
			env := gittest.Env(t.TempDir())
			plantRepository(t, env, dir)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			o.make(t, path)
			w := Worktree{Root: dir, GitDir: filepath.Join(dir, ".git"), Common: filepath.Join(dir, ".git")}
			var errs []error
			var longest time.Duration
			try := func(what string, call func() error) {
				begin := time.Now()
				err := call()
				took := time.Since(begin)
				if took > 10*time.Second { // the machine may be busy: alone it is half a second
					t.Errorf("%s took %s: %v", what, took, err)
				}
				longest = max(longest, took)
				errs = append(errs, err)
			}
			try("Check", func() error { return g.Check(t.Context(), w) })
			if errs[0] != nil && !strings.Contains(errs[0].Error(), path) {
				t.Errorf("Check says %v", errs[0])
			}
			try("ReadOwn", func() error { _, err := g.ReadOwn(t.Context(), w); return err })
			if w.Sound() == nil { // else nobody calls git
				for _, args := range calls {
					try(args[0], func() error { _, err := g.Run(t.Context(), Call{Dir: dir, Env: w.Env(), Args: args}); return err })
				}
			}
			err := errors.Join(errs...)
			var hint *thread.HintError
			if err != nil && (!errors.Is(err, ErrEndless) || !errors.As(err, &hint)) && strings.Contains(err.Error(), "signal") {
				t.Errorf("it is not named: %v", err)
			}
			if errors.Is(err, ErrEndless) && !strings.Contains(err.Error(), path) {
				t.Errorf("%s is not named: %v", path, err)
			}
			t.Logf("the longest call took %s: %v", longest, err)
		})
	}
}

func plantRepository(t *testing.T, env []string, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub/a.txt"), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "T"}, {"config", "user.email", "t@example.com"}, {"add", "-A"},
		{"commit", "-q", "-m", "one"}, {"worktree", "add", "-q", "-b", "other", filepath.Join(filepath.Dir(dir), "W")},
	} {
		gittest.Run(t, env, dir, args...)
	}
}
