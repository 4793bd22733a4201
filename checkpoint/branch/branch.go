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

// Merger works on the branches of one project's worktrees. It holds no state and is safe for concurrent use on
// different worktrees.
type Merger struct {
	git  *git.Git
	temp string // the temporary folder
}

var _ thread.Merges = (*Merger)(nil)

// New makes a Merger; env follows the process's environment for git. What a process that was killed in a merge left in
// the temporary folder is removed.
func New(env ...string) (*Merger, error) {
	g, err := git.New(env...)
	if err != nil {
		return nil, fmt.Errorf("open branches: %w", err)
	}
	m := &Merger{git: g, temp: os.TempDir()}
	for _, kv := range env {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok && dir != "" {
			m.temp = dir
		}
	}
	sweep(m.temp)
	return m, nil
}

// tree is a worktree to work in.
type tree struct {
	git.Worktree
	git  *git.Git
	temp string
	env  []string // where a preview keeps what it makes: objects, an index; nil otherwise
	note *os.File // locked, while the worktree is ours alone; nil otherwise
}

func (m *Merger) open(ctx context.Context, dir string) (tree, error) {
	w, err := git.Find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return tree{}, fmt.Errorf("%w: %w", err, thread.ErrNotFound)
	}
	if err != nil {
		return tree{}, err
	}
	return tree{Worktree: w, git: m.git, temp: m.temp}, m.git.Check(ctx, w)
}

func (t tree) run(ctx context.Context, c git.Call) ([]byte, error) {
	out, _, err := t.code(ctx, c)
	return out, err
}

func (t tree) code(ctx context.Context, c git.Call) ([]byte, int, error) {
	c.Dir, c.Env, c.Hold = t.Root, slices.Concat(t.Env(), t.env, c.Env), t.note
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
	to, err := m.open(ctx, into)
	if err != nil {
		return false, "", err
	}
	if err := from.trusted(ctx); err != nil {
		return false, "", err
	}
	out, err := from.run(ctx, git.Call{Args: []string{
		"status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty",
	}})
	if err != nil {
		return false, "", err
	}
	if n := strings.Count(string(out), "\x00"); n > 0 {
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
