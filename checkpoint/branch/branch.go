package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

// Config says what a Merger works with.
type Config struct {
	// State is a folder of ours that neither repositories nor agents write: what git is to believe lies there while
	// it runs.
	State string
	// Accepted reports whether the person accepted exactly this content of a place; nil accepts nothing.
	Accepted func(place string, content []byte) bool
	// Env follows the process's environment for git.
	Env []string
}

// Merger works on the branches of one project's worktrees. It holds no state and is safe for concurrent use on
// different worktrees.
type Merger struct {
	git      *git.Git
	temp     string // the temporary folder
	state    string
	accepted func(place string, content []byte) bool
}

var _ thread.Merges = (*Merger)(nil)

// New makes a Merger. What a process that was killed in a merge left in the temporary folder and in ours is removed.
func New(cfg Config) (*Merger, error) {
	g, err := git.New(cfg.Env...)
	if err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	m := &Merger{git: g, temp: os.TempDir(), accepted: cfg.Accepted}
	for _, kv := range cfg.Env {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok && dir != "" {
			m.temp = dir
		}
	}
	if m.state, err = filepath.Abs(cfg.State); err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	if err := os.MkdirAll(m.state, 0o700); err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	sweep(m.temp)
	sweep(m.state)
	return m, nil
}

// tree is a worktree to work in, with the configuration that its repository had when it was opened.
type tree struct {
	git.Worktree
	git     *git.Git
	temp    string
	own     *git.Own
	refused bool     // the programs that own names were not accepted
	view    scratch  // what git sees of the repository
	frozen  []string // has git see it
	env     []string // where a preview keeps what it makes: objects, an index; nil otherwise
	note    *os.File // locked, while the worktree is ours alone; nil otherwise
}

func (m *Merger) open(ctx context.Context, dir string) (tree, error) {
	w, err := git.Find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, fmt.Errorf("%w: %w", err, thread.ErrNotFound)
	}
	if err != nil {
		return tree{}, err
	}
	if err := m.git.Check(ctx, w); err != nil {
		return tree{}, err
	}
	own, err := m.git.ReadOwn(ctx, w)
	if err != nil {
		return tree{}, err
	}
	t := tree{Worktree: w, git: m.git, temp: m.temp, own: own}
	t.refused = len(own.Content()) > 0 && (m.accepted == nil || !m.accepted(own.Place(), own.Content()))
	if t.view, err = newScratch(m.state); err != nil {
		return tree{}, err
	}
	if t.frozen, err = own.Freeze(t.view.dir, !t.refused); err != nil {
		t.close()
		return tree{}, err
	}
	return t, nil
}

// close forgets what git saw, and lets others change the worktree.
func (t tree) close() {
	t.view.remove()
	if t.note != nil {
		t.note.Close()
	}
}

func (t tree) run(ctx context.Context, c git.Call) ([]byte, error) {
	out, _, err := t.code(ctx, c)
	return out, err
}

func (t tree) code(ctx context.Context, c git.Call) ([]byte, int, error) {
	c.Dir, c.Env = t.Root, slices.Concat(t.frozen, t.env, c.Env)
	for _, held := range []*os.File{t.note, t.view.lock} { // a git that outlives us needs both
		if held != nil {
			c.Hold = append(c.Hold, held)
		}
	}
	c.Durable = c.Durable && t.env == nil
	return t.git.RunCode(ctx, c)
}

func (t tree) line(ctx context.Context, args ...string) (string, error) {
	out, err := t.run(ctx, git.Call{Args: args})
	return strings.TrimSpace(string(out)), err
}

// commit returns the commit that a branch name, a full ref or a commit id leads to.
func (t tree) commit(ctx context.Context, name string) (string, error) {
	ref := name
	switch {
	case name == "HEAD" || git.IsObjectID(name):
	case strings.HasPrefix(name, "refs/"):
		if err := git.CheckBranch(strings.TrimPrefix(name, "refs/")); err != nil {
			return "", err
		}
	default:
		if err := git.CheckBranch(name); err != nil {
			return "", err
		}
		ref = "refs/heads/" + name
	}
	out, code, err := t.code(ctx, git.Call{
		Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}, OK: []int{1, 128},
	})
	if err == nil && code != 0 {
		err = fmt.Errorf("%s has no commit: %w", name, thread.ErrNotFound)
	}
	return strings.TrimSpace(string(out)), err
}

// Branch returns the name of the branch checked out in a folder, "" for a detached HEAD.
func (m *Merger) Branch(ctx context.Context, dir string) (string, error) {
	t, err := m.open(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("read branch: %w", err)
	}
	defer t.close()
	out, err := t.run(ctx, git.Call{Args: []string{"symbolic-ref", "--quiet", "HEAD"}, OK: []int{1}})
	if err != nil {
		return "", fmt.Errorf("read branch: %w", err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/"), nil
}

// Reachable reports whether all that a worktree holds, uncommitted files included, is part of the branch checked
// out in another; why says what is not, for people. Ignored files do not count.
func (m *Merger) Reachable(ctx context.Context, worktree, into string) (all bool, why string, err error) {
	all, why, err = m.reachable(ctx, worktree, into)
	if err != nil {
		return false, "", fmt.Errorf("look for what is not merged: %w", err)
	}
	return all, why, nil
}

func (m *Merger) reachable(ctx context.Context, worktree, into string) (bool, string, error) {
	from, err := m.open(ctx, worktree)
	if err != nil {
		return false, "", err
	}
	defer from.close()
	to, err := m.open(ctx, into)
	if err != nil {
		return false, "", err
	}
	defer to.close()
	if err := from.trusted(ctx); err != nil {
		return false, "", err
	}
	out, err := from.run(ctx, git.Call{Args: []string{
		"status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty",
	}})
	if err != nil {
		return false, "", err
	}
	n := 0
	for _, line := range split(out) { // "XY path"
		if len(line) > 3 && !git.IsForeign(line[3:]) {
			n++
		}
	}
	if n > 0 {
		return false, files(n) + " not committed", nil
	}
	head, err := from.commit(ctx, "HEAD")
	if errors.Is(err, thread.ErrNotFound) {
		return true, "", nil // nothing was ever committed, and nothing lies there
	}
	if err != nil {
		return false, "", err
	}
	target, err := to.commit(ctx, "HEAD")
	if errors.Is(err, thread.ErrNotFound) {
		return false, "nothing is committed in " + into, nil
	}
	if err != nil {
		return false, "", err
	}
	count, err := to.line(ctx, "rev-list", "--count", head, "^"+target, "--")
	if err != nil || count == "0" {
		return err == nil, "", err
	}
	if count == "1" {
		return false, "1 commit is not merged", nil
	}
	return false, count + " commits are not merged", nil
}

func files(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return strconv.Itoa(n) + " files are"
}

// inProgress names what a worktree is in the middle of, "" for nothing.
func (t tree) inProgress() string {
	for _, st := range []struct{ file, what string }{
		{"MERGE_HEAD", "merge"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	} {
		if _, err := os.Lstat(filepath.Join(t.GitDir, st.file)); err == nil {
			return st.what
		}
	}
	return ""
}
