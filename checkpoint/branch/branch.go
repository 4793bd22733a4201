package branch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
)

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

// Reachable reports whether everything in a worktree, uncommitted files included, is part of the branch checked out in
// another; why says what is not, for people. Ignored files do not count.
func (m *Merger) Reachable(ctx context.Context, worktree, into string) (all bool, why string, err error) {
	all, why, err = m.reachable(ctx, worktree, into)
	if err != nil {
		return false, "", fmt.Errorf("check for unmerged changes: %w", err)
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
	for _, line := range git.Fields(out) { // "XY path"
		if len(line) > 3 && !git.IsForeign(line[3:]) {
			n++
		}
	}
	if n > 0 {
		return false, files(n) + " not committed", nil
	}
	head, err := from.commit(ctx, "HEAD")
	if errors.Is(err, thread.ErrNotFound) {
		return true, "", nil // nothing was ever committed, and there are no files
	}
	if err != nil {
		return false, "", err
	}
	target, err := to.commit(ctx, "HEAD")
	if errors.Is(err, thread.ErrNotFound) {
		return false, into + " has no commits yet", nil
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
