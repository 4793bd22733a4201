// Package snapshottest makes repositories for the tests of snapshots and worktrees.
package snapshottest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"orchestrator/checkpoint/git/gittest"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/worktree"
	"orchestrator/thread"
)

// T is what testing and rapid have in common.
type T interface {
	Helper()
	Cleanup(func())
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// Repo is a repository with a store, in folders of its own.
type Repo struct {
	T
	Top   string // everything is below it
	Dir   string // the main worktree
	Env   []string
	Store *Store
	// TreesDir is the folder of worktrees where it is another one than usual.
	TreesDir string
}

// Store is the store of snapshots and the keeper of worktrees, as one.
type Store struct {
	*snapshot.Store
	*worktree.Keeper
	*worktree.Finder
}

// OpenStore makes a Store.
func OpenStore(where worktree.Config, cfg snapshot.Config) (*Store, error) {
	found, err := worktree.NewFinder(where)
	if err != nil {
		return nil, err
	}
	s := snapshot.New(found, cfg)
	return &Store{Store: s, Keeper: worktree.NewKeeper(found, s), Finder: found}, nil
}

// Trees is the folder of worktrees.
func (r *Repo) Trees() string {
	if r.TreesDir != "" {
		return r.TreesDir
	}
	return filepath.Join(r.Top, "trees")
}

// Env is an environment for git in which nothing of this machine's configuration counts.
func Env(home string) []string {
	return append(gittest.Env(home),
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=person@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=person@example.org")
}

// New makes a repository without a commit in a folder.
func New(t T, top string, args ...string) *Repo {
	t.Helper()
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		t.Fatal(err)
	}
	r := &Repo{T: t, Top: top, Dir: filepath.Join(top, "project"), Env: Env(filepath.Join(top, "home"))}
	for _, dir := range []string{r.Dir, filepath.Join(top, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if len(args) == 0 {
		gittest.Init(t, r.Dir)
	} else {
		r.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	}
	r.Store = r.Open(0)
	return r
}

// Open makes another store on the same state, as another process would.
func (r *Repo) Open(limit int64) *Store {
	r.Helper()
	s, err := OpenStore(r.Where(), snapshot.Config{Limit: limit})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { // what follows in the background must not outlive the folders
		if err := s.Close(); err != nil {
			r.Errorf("close the store: %v", err)
		}
	})
	return s
}

// Where is where its stores look.
func (r *Repo) Where() worktree.Config {
	return worktree.Config{Dir: r.Dir, State: filepath.Join(r.Top, "state"), Worktrees: r.Trees(), Env: r.Env}
}

// Git runs git in the main worktree, as the person would.
func (r *Repo) Git(args ...string) string { r.Helper(); return r.GitIn(r.Dir, args...) }

// GitIn runs git in a folder, as the person would.
func (r *Repo) GitIn(dir string, args ...string) string {
	r.Helper()
	return gittest.Run(r, r.Env, dir, args...)
}

// Write writes a file of the main worktree.
func (r *Repo) Write(name, content string) { r.Helper(); r.WriteIn(r.Dir, name, content, 0o644) }

// WriteIn writes a file below a folder, and the folders that it needs.
func (r *Repo) WriteIn(dir, name, content string, perm fs.FileMode) {
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

// Link makes a symbolic link in the main worktree.
func (r *Repo) Link(name, target string) {
	r.Helper()
	path := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		r.Fatal(err)
	}
}

// Remove removes a path in the main worktree.
func (r *Repo) Remove(name string) {
	r.Helper()
	if err := os.RemoveAll(filepath.Join(r.Dir, name)); err != nil {
		r.Fatal(err)
	}
}

// CommitAll commits everything in the main worktree and returns the commit.
func (r *Repo) CommitAll(message string) string {
	r.Helper()
	r.Git("add", "-A")
	r.Git("commit", "-q", "--allow-empty", "-m", message)
	return gittest.Head(r, r.Env, r.Dir)
}

// Take takes a snapshot of the main worktree for the thread t1.
func (r *Repo) Take(prev *thread.Snapshot) thread.Snapshot {
	r.Helper()
	return r.TakeIn(r.Dir, prev)
}

// TakeIn takes a snapshot of a worktree for the thread t1.
func (r *Repo) TakeIn(dir string, prev *thread.Snapshot) thread.Snapshot {
	r.Helper()
	snap, err := r.Store.Take(context.Background(), "t1", dir, prev)
	if err != nil {
		r.Fatal(err)
	}
	return snap
}

// Restore restores a snapshot in the main worktree for the thread t1.
func (r *Repo) Restore(at thread.Snapshot) thread.Snapshot {
	r.Helper()
	safety, err := r.Store.Restore(context.Background(), "t1", r.Dir, at)
	if err != nil {
		r.Fatal(err)
	}
	return safety
}

// Files reads a worktree: content by name, with the mode where it is not plain. .git is left out.
func (r *Repo) Files(dir string) map[string]string {
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

// Held reads the files of a snapshot.
func (r *Repo) Held(snap thread.Snapshot) map[string]string {
	r.Helper()
	found := map[string]string{}
	var names, kinds, oids []string
	for _, line := range strings.Split(strings.TrimSuffix(r.Git("ls-tree", "-r", "-z", snap.Commit), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		head, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		kind := ""
		switch f[0] {
		case "160000":
			found[name] = "repo " + f[2]
			continue
		case "120000":
			kind = "link "
		case "100755":
			kind = "exec "
		}
		names, kinds, oids = append(names, name), append(kinds, kind), append(oids, f[2])
	}
	for i, body := range r.blobs(oids) {
		found[names[i]] = kinds[i] + body
	}
	return found
}

// blobs reads blobs with one git.
func (r *Repo) blobs(oids []string) []string {
	r.Helper()
	if len(oids) == 0 {
		return nil
	}
	cmd := exec.Command("git", "cat-file", "--batch")
	cmd.Dir = r.Dir
	cmd.Stdin = strings.NewReader(strings.Join(oids, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		r.Fatal(err)
	}
	bodies := make([]string, 0, len(oids))
	for _, oid := range oids {
		head, rest, _ := bytes.Cut(out, []byte{'\n'})
		size := -1
		if n, err := fmt.Sscanf(string(head), oid+" blob %d", &size); n != 1 || err != nil || size >= len(rest) {
			r.Fatalf("blob %s: git wrote %q", oid, head)
		}
		bodies, out = append(bodies, string(rest[:size])), rest[size+1:]
	}
	return bodies
}

// Same compares two sets of files.
func (r *Repo) Same(what string, got, want map[string]string) {
	r.Helper()
	if d := cmp.Diff(want, got); d != "" {
		r.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// Visible is all that a person sees of a repository, or that git does for them.
func (r *Repo) Visible() string {
	r.Helper()
	index, _ := os.ReadFile(filepath.Join(r.Dir, ".git/index"))
	config, _ := os.ReadFile(filepath.Join(r.Dir, ".git/config"))
	var logs []string
	_ = filepath.WalkDir(filepath.Join(r.Dir, ".git/logs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, _ := os.ReadFile(path)
			logs = append(logs, path+string(b))
		}
		return nil
	})
	slices.Sort(logs)
	head, _ := os.ReadFile(filepath.Join(r.Dir, ".git/HEAD"))
	// Branches with what they follow, tags, the stash: what `git branch`, `tag`, `log` print follows from this.
	refs := r.Git("for-each-ref", "--format=%(refname) %(objectname) %(upstream) %(upstream:track)",
		"refs/heads", "refs/tags", "refs/remotes", "refs/stash")
	return strings.Join([]string{
		string(head), refs, r.Git("worktree", "list", "--porcelain"), string(index), string(config), strings.Join(logs, "\n"),
	}, "\n--\n")
}

// Try runs git and returns its error.
func (r *Repo) Try(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.Dir
	cmd.Env = append(os.Environ(), r.Env...)
	return cmd.Run()
}

// HeldIn reads the files of a snapshot in another repository.
func (r *Repo) HeldIn(dir string, snap thread.Snapshot) map[string]string {
	r.Helper()
	other := *r
	other.Dir = dir
	return other.Held(snap)
}

// Reachable returns every file in any snapshot, with its content, as "name\0content".
func (r *Repo) Reachable() map[string]bool {
	r.Helper()
	found := map[string]bool{}
	seen := map[string]bool{}
	for line := range strings.Lines(r.Git("for-each-ref", "--format=%(tree) %(objectname)", "refs/orchestrator")) {
		tree, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seen[tree] {
			continue
		}
		seen[tree] = true
		for name, body := range r.Held(thread.Snapshot{Commit: commit}) {
			found[name+"\x00"+body] = true
		}
	}
	return found
}

// Fill makes n files of about 4 KB in folders of 20 and commits them.
func (r *Repo) Fill(n int) {
	r.Helper()
	for i := range n {
		line := fmt.Sprintf("line of file %d, which says something of a usual length\n", i)
		var body []byte
		for range 70 {
			body = append(body, line...)
		}
		r.Write(fmt.Sprintf("src/pkg%03d/file%04d.go", i/20, i), string(body))
	}
	r.CommitAll("first")
}

// Add makes a worktree for the thread t2.
func (r *Repo) Add(name string, at thread.Snapshot) thread.Worktree {
	r.Helper()
	wt, err := r.Store.Add(context.Background(), "t2", r.Dir, name, at)
	if err != nil {
		r.Fatal(err)
	}
	return wt
}
