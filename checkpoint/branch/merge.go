package branch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/checkpoint/git"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// DirtyError means that files of the worktree block a merge. It is a thread.ErrConflict.
type DirtyError struct {
	Dir   string
	Files []string
}

func (e *DirtyError) Error() string {
	shown := make([]string, 0, 10)
	for _, f := range e.Files[:min(10, len(e.Files))] {
		shown = append(shown, git.Printable(f))
	}
	more := ""
	if n := len(e.Files) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("the merge would overwrite uncommitted changes in %s: %s%s",
		e.Dir, strings.Join(shown, ", "), more)
}

// Unwrap makes it a thread.ErrConflict.
func (e *DirtyError) Unwrap() error { return thread.ErrConflict }

// Merge merges a branch or commit into the branch that is checked out in a worktree, always with a merge commit.
// Conflicts are left there and their paths are returned without an error. If the worktree's own changes are in the way
// it changes nothing and returns a DirtyError.
func (m *Merger) Merge(ctx context.Context, into, branch, message string) (thread.Merged, error) {
	t, err := m.hold(ctx, into)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("merge: %w", err)
	}
	defer t.close()
	done, err := t.merge(ctx, branch, message)
	if err != nil {
		return thread.Merged{}, fmt.Errorf("merge: %w", err)
	}
	return done, nil
}

func (t tree) merge(ctx context.Context, branch, message string) (thread.Merged, error) {
	message, err := checkMessage(message)
	if err != nil {
		return thread.Merged{}, err
	}
	if what := t.inProgress(); what != "" {
		return thread.Merged{}, thread.Hint(fmt.Errorf("a %s is in progress in %s: %w", what, t.Root, thread.ErrConflict),
			"continue or abort it first")
	}
	tip, head, merged, err := t.ends(ctx, branch)
	if err != nil {
		return thread.Merged{}, err
	}
	if merged {
		return thread.Merged{UpToDate: true, Commit: head}, nil
	}
	if err := t.identity(ctx); err != nil {
		return thread.Merged{}, err
	}
	tr, err := t.try(ctx, head, tip)
	if err != nil && !errors.Is(err, thread.ErrUnsupported) {
		return thread.Merged{}, err
	}
	defer tr.close()
	double, err := t.roomFor(ctx, head, tip, tr)
	if err != nil {
		return thread.Merged{}, err
	}
	b := begun{Op: opMerge, Head: head, Tip: tip}
	if err := t.keep(ctx, &b, double); err != nil {
		return thread.Merged{}, err
	}
	if err := t.begin(b); err != nil {
		return thread.Merged{}, err
	}
	done, err := t.mergeNow(ctx, head, tip, message, double)
	switch {
	case err != nil: // a full disk, for instance: nothing may be left half written
		return done, errors.Join(err, t.repair(context.WithoutCancel(ctx)))
	case len(done.Conflicts) > 0 && b.Double != "":
		return done, t.begin(begun{Op: opStop, Head: head, Tip: tip, Double: b.Double})
	}
	return done, t.ended()
}

// keep saves uncommitted changes, which an interrupted or aborted merge would lose.
func (t tree) keep(ctx context.Context, b *begun, double []string) error {
	own, err := t.dirty(ctx)
	if err != nil {
		return err
	}
	both := map[string]bool{}
	for _, path := range double {
		own[path], both[path] = true, true
	}
	if b.Own, err = t.save(ctx, b.Head, own); err != nil || len(both) == 0 {
		return err
	}
	b.Double, err = t.save(ctx, b.Head, both)
	return err
}

// mergeNow has git merge a commit; changes that both sides have are reset first.
func (t tree) mergeNow(ctx context.Context, head, tip, message string, double []string) (thread.Merged, error) {
	if err := t.resetFiles(ctx, head, double); err != nil {
		return thread.Merged{}, err
	}
	failpoint.Hit("branch.merge.begin")
	_, _, err := t.code(ctx, git.Call{
		Args: []string{
			"merge", "--quiet", "--no-ff", "--no-edit", "--no-verify", "--no-stat", "--no-autostash",
			"--no-overwrite-ignore", "-m", message, "--end-of-options", tip,
		},
		Config:  []string{"user.useConfigOnly=true", "rerere.enabled=false"},
		Durable: true, Reflog: true,
	})
	failpoint.Hit("branch.merge.ended")
	if err != nil {
		return t.stopped(ctx, unsigned(err))
	}
	commit, err := t.commit(ctx, "HEAD")
	return thread.Merged{Commit: commit}, err
}

// ends returns the commits to merge and to merge into, and whether the first is already part of the second.
func (t tree) ends(ctx context.Context, branch string) (tip, head string, merged bool, err error) {
	head, err = t.commit(ctx, "HEAD")
	if errors.Is(err, thread.ErrNotFound) {
		err = thread.Hint(thread.Kindf(thread.ErrRefused, "%s has no commits yet", t.Root),
			"make its first commit, then merge")
	}
	if err != nil {
		return "", "", false, err
	}
	if tip, err = t.commit(ctx, branch); err != nil {
		return "", "", false, err
	}
	if err := t.trusted(ctx); err != nil {
		return "", "", false, err
	}
	_, code, err := t.code(ctx, git.Call{Args: []string{"merge-base", "--is-ancestor", tip, head}, OK: []int{1}})
	return tip, head, code == 0, err
}

// stopped tells a merge with conflicts from one that did not begin.
func (t tree) stopped(ctx context.Context, err error) (thread.Merged, error) {
	if t.inProgress() != "merge" {
		return thread.Merged{}, err
	}
	open, uerr := t.unmerged(ctx)
	if uerr != nil || len(open) == 0 {
		return thread.Merged{}, errors.Join(err, uerr)
	}
	return thread.Merged{Conflicts: open}, nil
}

// roomFor refuses a merge that would overwrite a file that is in no commit; git itself prevents most cases, but
// overwrites ignored files silently. double are the files that already have the content that the merge would write. tr
// is nil if git cannot try a merge.
func (t tree) roomFor(ctx context.Context, head, tip string, tr *trial) (double []string, err error) {
	out, err := t.run(ctx, git.Call{Args: []string{"merge-base", "--", head, tip}, OK: []int{1}})
	if err != nil {
		return nil, err
	}
	from := strings.TrimSpace(string(out))
	if from == "" {
		from = head // no common history: everything that differs may be touched
	}
	touched, err := t.names(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", from, tip,
		"--")
	if err != nil {
		return nil, err
	}
	if tr != nil {
		for path := range tr.changes { // renamed here, it has another path there
			touched[path] = true
		}
	}
	dirty, err := t.dirty(ctx)
	if err != nil {
		return nil, err
	}
	tracked, err := t.names(ctx, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, err
	}
	var inTheWay []string
	for path := range touched {
		if dirty[path] || (!tracked[path] && t.occupied(path, tracked)) {
			inTheWay = append(inTheWay, path)
		}
	}
	slices.Sort(inTheWay)
	same, err := t.alreadyMerged(ctx, tr, inTheWay)
	if err != nil {
		return nil, err
	}
	blocked := slices.DeleteFunc(slices.Clone(inTheWay), func(path string) bool { return same[path] })
	if len(blocked) > 0 {
		return nil, thread.Hint(&DirtyError{Dir: t.Root, Files: blocked}, "commit or move them first")
	}
	return inTheWay, nil
}

// occupied reports whether the path of a new file, or of one of its folders, is taken.
func (t tree) occupied(path string, tracked map[string]bool) bool {
	if info, err := os.Lstat(filepath.Join(t.Root, path)); err == nil {
		return !info.IsDir() || hasLoose(t.Root, path, tracked)
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(t.Root, dir))
		if err == nil {
			return !info.IsDir() && !tracked[dir]
		}
	}
	return false
}

// hasLoose reports whether a folder contains anything untracked.
func hasLoose(root, dir string, tracked map[string]bool) bool {
	loose := false
	_ = filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		name, rerr := filepath.Rel(root, path)
		if err != nil || rerr != nil || (!d.IsDir() && !tracked[name]) {
			loose = true
			return fs.SkipAll
		}
		return nil
	})
	return loose
}

// dirty returns the tracked files that differ from HEAD, in the index or on disk.
func (t tree) dirty(ctx context.Context) (map[string]bool, error) {
	if err := t.unlocked(); err != nil {
		return nil, err
	}
	// The exit code only says that something needs an update, which the next call reports better.
	own := t
	own.env = nil // a preview refreshes the worktree's own index too, which must then be synced
	_, _, err := own.code(ctx, git.Call{
		Args: []string{"update-index", "-q", "--refresh", "--unmerged", "--ignore-submodules"}, OK: []int{1}, Durable: true,
	})
	if err != nil {
		return nil, err
	}
	return t.names(ctx, "diff-index", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty", "HEAD", "--")
}
