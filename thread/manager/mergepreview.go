package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
)

// mergePreview reports the result that a merge would have.
func (m *Merges) mergePreview(ctx context.Context, child *run, in mergeIntent) (thread.MergeReport, error) {
	report := m.mergeReport(child, in)
	if err := m.mergeStopped(ctx, child, in.Dir, &report); err != nil || report.Stopped {
		return report, err
	}
	t := child.live.thread()
	what, err := m.cfg.Merges.Preview(ctx, in.Dir, t.Worktree.Path)
	switch {
	case err != nil && m.commitsInto(in) && errors.Is(err, thread.ErrConflict):
		report.Unsure = in.Dir + " has uncommitted changes. They are committed first, and may conflict"
	case err != nil:
		return report, m.offerCommit(ctx, t.Name, in, err)
	}
	if in.Commit {
		if report.Committed, err = m.uncommitted(ctx, in); err != nil {
			return report, err
		}
	}
	report.UpToDate, report.Conflicts = what.UpToDate, what.Conflicts
	report.LeftOut = m.notices.leftOut(ctx, thread.OpDryRun, child.live.id, in.Dir, t.Worktree.Path)
	if m.cfg.Differ != nil && !what.UpToDate {
		report.Files, err = m.cfg.Differ.Diff(ctx, t.Dir, t.Worktree.Base, "")
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// mergeStopped records in a report that the thread's merge into a folder has conflicts to resolve, and which. If
// another thread's merge is open there it returns an error.
func (m *Merges) mergeStopped(ctx context.Context, child *run, dir string, report *thread.MergeReport) error {
	under, err := m.cfg.Merges.InProgress(ctx, dir)
	if err != nil || !under {
		return err
	}
	if _, own, err := m.openMerge(ctx, child); err != nil || own.Dir != dir {
		return thread.Hint(fmt.Errorf("another merge is in progress in %s: %w", dir, thread.ErrConflict),
			"continue or abort it first")
	}
	report.Stopped = true
	report.Conflicts, err = m.cfg.Merges.Unresolved(ctx, dir)
	return err
}

// commitsInto reports whether a merge targets one of our worktrees: a fork begins with its parent's uncommitted work,
// so both have the same changes, and there they are committed before the merge. The person's own folder is theirs to
// commit, unless they ask for it.
func (m *Merges) commitsInto(in mergeIntent) bool {
	into := m.registry.run(in.Into)
	return in.Commit || into != nil && into.live.thread().Worktree.Path == in.Dir
}

// uncommitted names the files with uncommitted changes in the target's folder.
func (m *Merges) uncommitted(ctx context.Context, in mergeIntent) ([]string, error) {
	if m.cfg.Differ == nil {
		return nil, nil
	}
	files, err := m.cfg.Differ.Diff(ctx, in.Dir, "HEAD", "")
	if err != nil {
		return nil, fmt.Errorf("list uncommitted changes in %s: %w", in.Dir, err)
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, f.Path)
	}
	return names, nil
}

// offerCommit adds a hint to a refusal caused by uncommitted changes in the target's folder: how to commit them, and
// which files.
func (m *Merges) offerCommit(ctx context.Context, name string, in mergeIntent, refused error) error {
	if !errors.Is(refused, thread.ErrConflict) || in.Commit {
		return refused
	}
	files, err := m.uncommitted(ctx, in)
	if err != nil || len(files) == 0 {
		return refused
	}
	shown := strings.Join(files[:min(10, len(files))], ", ")
	if more := len(files) - 10; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	if hint := (*thread.HintError)(nil); errors.As(refused, &hint) {
		refused = hint.Err
	}
	return thread.Hint(refused, fmt.Sprintf(
		"`orchestrator merge %s --commit-parent` commits the uncommitted changes there first: %s", name, shown))
}
