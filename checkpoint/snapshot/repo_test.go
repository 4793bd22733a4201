package snapshot_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrator/checkpoint/git/gittest"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/thread"
)

// tb is what testing and rapid have in common.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// repo is a repository with a store, in folders of its own.
type repo struct {
	tb
	top   string // everything lies below it
	dir   string // the main worktree
	env   []string
	store *snapshot.Store
	// treesDir is the folder of worktrees where it is another one than usual.
	treesDir string
}

func (r *repo) trees() string {
	if r.treesDir != "" {
		return r.treesDir
	}
	return filepath.Join(r.top, "trees")
}

// cleanEnv is an environment for git in which nothing of this machine's configuration counts.
func cleanEnv(home string) []string {
	return append(gittest.Env(home),
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org")
}

func newRepo(t tb, top string, args ...string) *repo {
	t.Helper()
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{tb: t, top: top, dir: filepath.Join(top, "project"), env: cleanEnv(filepath.Join(top, "home"))}
	for _, dir := range []string{r.dir, filepath.Join(top, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	r.store = r.open(0)
	return r
}

// open makes another store on the same state, as another process would.
func (r *repo) open(limit int64) *snapshot.Store {
	r.Helper()
	s, err := snapshot.New(snapshot.Config{
		Dir: r.dir, State: filepath.Join(r.top, "state"),
		Worktrees: r.trees(), Limit: limit, Env: r.env,
	})
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func (r *repo) git(args ...string) string { r.Helper(); return r.gitIn(r.dir, args...) }

func (r *repo) gitIn(dir string, args ...string) string {
	r.Helper()
	return gittest.Run(r, r.env, dir, args...)
}

func (r *repo) write(name, content string) { r.Helper(); r.writeIn(r.dir, name, content, 0o644) }

func (r *repo) writeIn(dir, name, content string, perm fs.FileMode) {
	r.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), perm); err != nil {
		r.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) link(name, target string) {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) remove(name string) {
	r.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, name)); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) commitAll(message string) string {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

func (r *repo) take(prev *thread.Snapshot) thread.Snapshot {
	r.Helper()
	return r.takeIn(r.dir, prev)
}

func (r *repo) takeIn(dir string, prev *thread.Snapshot) thread.Snapshot {
	r.Helper()
	snap, err := r.store.Take(context.Background(), "t1", dir, prev)
	if err != nil {
		r.Fatal(err)
	}
	return snap
}

func (r *repo) restore(at thread.Snapshot) thread.Snapshot {
	r.Helper()
	safety, err := r.store.Restore(context.Background(), "t1", r.dir, at)
	if err != nil {
		r.Fatal(err)
	}
	return safety
}

// files reads a worktree: content by name, with the mode where it is not plain. .git is left out.
func (r *repo) files(dir string) map[string]string {
	r.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if filepath.Base(name) == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || d.IsDir() || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
			return err
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			found[name] = "link " + to
			return err
		case info.Mode().Perm()&0o100 != 0:
			b, err := os.ReadFile(path)
			found[name] = "exec " + string(b)
			return err
		}
		b, err := os.ReadFile(path)
		found[name] = string(b)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return found
}

// held reads the files of a snapshot.
func (r *repo) held(snap thread.Snapshot) map[string]string {
	r.Helper()
	found := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(r.git("ls-tree", "-r", "-z", snap.Commit), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		switch f[0] {
		case "160000":
			found[name] = "repo " + f[2]
		case "120000":
			found[name] = "link " + r.blob(f[2])
		case "100755":
			found[name] = "exec " + r.blob(f[2])
		default:
			found[name] = r.blob(f[2])
		}
	}
	return found
}

func (r *repo) blob(oid string) string {
	cmd := exec.Command("git", "cat-file", "blob", oid)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	if err != nil {
		r.Fatal(err)
	}
	return string(out)
}

// same compares two sets of files.
func (r *repo) same(what string, got, want map[string]string) {
	r.Helper()
	if d := cmp.Diff(want, got); d != "" {
		r.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// visible is all that a person sees of a repository, or that git does for them.
func (r *repo) visible() string {
	r.Helper()
	index, _ := os.ReadFile(filepath.Join(r.dir, ".git/index"))
	config, _ := os.ReadFile(filepath.Join(r.dir, ".git/config"))
	var logs []string
	_ = filepath.WalkDir(filepath.Join(r.dir, ".git/logs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, _ := os.ReadFile(path)
			logs = append(logs, path+string(b))
		}
		return nil
	})
	slices.Sort(logs)
	return strings.Join([]string{
		r.git("branch", "-a", "-vv"), r.git("tag"), r.git("stash", "list"), r.git("worktree", "list"),
		string(index), string(config), strings.Join(logs, "\n"), r.git("log", "--branches", "--tags", "--oneline"),
	}, "\n--\n")
}

func isolate(t *testing.T) *repo {
	t.Helper()
	return newRepo(t, t.TempDir())
}

// try runs git and returns its error.
func (r *repo) try(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), r.env...)
	return cmd.Run()
}

// held2 reads the files of a snapshot in another repository.
func (r *repo) held2(dir string, snap thread.Snapshot) map[string]string {
	r.Helper()
	other := *r
	other.dir = dir
	return other.held(snap)
}
