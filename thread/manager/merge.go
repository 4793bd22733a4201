package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/handoff"
	"orchestrator/thread/plaintext"
)

// Start commits a thread's work and merges its branch into its parent's, or into another thread's. Safety checkpoints
// of both come first. Conflicts are left in the target's folder and listed; MergeContinue and MergeAbort end the merge.
// With DryRun nothing is changed.
func (m *Merges) Start(ctx context.Context, r thread.MergeRequest) (thread.MergeReport, error) {
	child, err := m.registry.find(r.Thread)
	if err != nil {
		return thread.MergeReport{}, err
	}
	does := "merge"
	if r.Finish {
		does = "finish"
	}
	in, target, err := m.mergeTarget(ctx, child, r)
	if err == nil && !r.NoteOnly {
		err = child.live.do(ctx, func(ctx context.Context) error { return bringBack(ctx, child) })
	}
	if err == nil {
		in.Branch, err = m.branchOf(ctx, child.live.thread())
	}
	if err != nil {
		return thread.MergeReport{}, fmt.Errorf("%s %s: %w", does, child.live.thread().Name, err)
	}
	if r.NoteOnly {
		report, err := m.tellMerged(ctx, child, target, in)
		if err != nil {
			return report, fmt.Errorf("send the note on the merge of %s: %w", child.live.thread().Name, err)
		}
		return report, nil
	}
	if r.DryRun {
		report, err := m.mergePreview(ctx, child, in)
		if err != nil {
			return report, fmt.Errorf("%s %s: %w", does, child.live.thread().Name, err)
		}
		return report, nil
	}
	both := []thread.ID{child.live.id}
	if target != nil {
		both = append(both, target.live.id)
	}
	return m.detached(ctx, m.mergeOf(child), both, func(ctx, git context.Context) (thread.MergeReport, error) {
		report, err := m.merge(ctx, git, child, target, in, r.Message)
		if err != nil {
			return report, fmt.Errorf("%s %s: %w", does, child.live.thread().Name, err)
		}
		return report, nil
	})
}

// mergeOf names a merge for those who wait for it.
func (m *Merges) mergeOf(child *run) string {
	return "the merge of " + child.live.thread().DisplayName()
}

// merge commits the child's work and merges it. The exclusive of merges is held.
func (m *Merges) merge(
	ctx, git context.Context, child, target *run, in mergeIntent, message string,
) (thread.MergeReport, error) {
	report := m.mergeReport(child, in)
	if err := m.mergeStopped(ctx, child, in.Dir, &report); err != nil || report.Stopped {
		return report, err
	}
	if target != nil {
		if err := m.awaitNote(ctx, target); err != nil {
			return report, err
		}
	}
	t := child.live.thread()
	if message == "" {
		message = cmp.Or(plaintext.FirstLine(t.Label), t.Name)
	}
	err := child.live.do(ctx, func(ctx context.Context) error {
		if err := child.idle(ctx); err != nil {
			return err
		}
		_, err := child.recorder.Safety(ctx, thread.NoteBeforeMerge+"into "+in.Target, true)
		return err
	})
	if err != nil {
		return report, err
	}
	if target != nil {
		err = target.live.do(ctx, func(ctx context.Context) error {
			_, err := target.recorder.Safety(ctx, thread.NoteBeforeMerge+"of "+t.Name, true)
			return err
		})
		if err != nil {
			return report, err
		}
	}
	intent, err := m.intents.begin(ctx, intentMerge, child.live.id, in)
	if err != nil {
		return report, err
	}
	failpoint.Hit("thread.merge.intended")
	report, err = m.mergeBranches(ctx, git, child, in, message, report)
	if err != nil {
		m.notMerged(ctx, child, target)
		return report, errors.Join(err, m.intents.settle(ctx, intent))
	}
	if len(report.Conflicts) > 0 {
		report.Stopped = true
		child.live.mergesInto(in.Target)
		m.notices.post(child.live.id, thread.LevelWarn, "%s conflicts with %s in %s: %s. Resolve them in %s, then continue or abort",
			t.DisplayName(), in.Target, plaintext.Count(len(report.Conflicts), "file"),
			strings.Join(report.Conflicts[:min(5, len(report.Conflicts))], ", "), in.Dir)
		return report, nil // the intent stays until the person is done
	}
	return m.merged(ctx, child, intent, in, report)
}

// mergeBranches commits the child's worktree and merges its branch.
func (m *Merges) mergeBranches(
	ctx, git context.Context, child *run, in mergeIntent, message string, report thread.MergeReport,
) (thread.MergeReport, error) {
	t := child.live.thread()
	if m.cfg.Differ != nil {
		files, err := m.cfg.Differ.Diff(ctx, t.Dir, t.Worktree.Base, "")
		if err != nil {
			return report, fmt.Errorf("compare the files: %w", err)
		}
		report.Files = files
	}
	if _, err := m.cfg.Merges.Commit(git, t.Worktree.Path, message); err != nil {
		return report, fmt.Errorf("commit its work: %w", err)
	}
	failpoint.Hit("thread.merge.committed")
	if m.commitsInto(in) {
		if in.Commit {
			var err error
			if report.Committed, err = m.uncommitted(ctx, in); err != nil {
				return report, err
			}
		}
		if _, err := m.cfg.Merges.Commit(git, in.Dir, "Work before the merge of "+t.Name); err != nil {
			return report, fmt.Errorf("commit the work of %s: %w", in.Dir, err)
		}
	}
	what, err := m.cfg.Merges.Merge(git, in.Dir, in.Branch, "Merge "+t.Name+"\n\n"+message)
	if err != nil {
		return report, m.offerCommit(ctx, t.Name, in, err)
	}
	failpoint.Hit("thread.merge.merged")
	report.LeftOut = m.notices.leftOut(ctx, thread.OpMerge, child.live.id, in.Dir, t.Worktree.Path)
	report.Commit, report.UpToDate, report.Conflicts = what.Commit, what.UpToDate, what.Conflicts
	return report, nil
}

// merged records a completed merge, tells the target's agent and finishes the thread if asked.
func (m *Merges) merged(
	ctx context.Context, child *run, intent thread.Intent, in mergeIntent, report thread.MergeReport,
) (thread.MergeReport, error) {
	err := child.live.do(ctx, func(ctx context.Context) error {
		return child.live.update(ctx, func(t *thread.Thread) error {
			t.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Into: in.Into, Commit: report.Commit, At: m.cfg.now()}
			return nil
		})
	})
	if err != nil {
		return report, fmt.Errorf("record the outcome: %w", err)
	}
	failpoint.Hit("thread.merge.recorded")
	child.live.mergesInto("")
	t := child.live.thread()
	report.Summary = handoff.MergeNote(t, report, m.past.LastAnswer(ctx, t))
	if target := m.registry.run(in.Into); target != nil && !report.UpToDate {
		if m.cfg.runsLines(target.live.thread().Agent) {
			in.Tell, in.Ask, report.Untold = false, false, noNote
		}
		report.Told, report.Ask = in.Tell, in.Ask
		if in.Tell {
			m.tell(ctx, target, report.Summary)
		}
	}
	if err := m.intents.settle(ctx, intent); err != nil {
		return report, err
	}
	if in.Finish {
		return m.finish(ctx, child, in, report)
	}
	return report, nil
}

// Continue continues a merge whose conflicts are resolved.
func (m *Merges) Continue(ctx context.Context, ref string) (thread.MergeReport, error) {
	child, err := m.registry.find(ref)
	if err != nil {
		return thread.MergeReport{}, err
	}
	return m.detached(ctx, m.mergeOf(child), []thread.ID{child.live.id}, func(ctx, git context.Context) (thread.MergeReport, error) {
		name := child.live.thread().Name
		intent, in, err := m.openMerge(ctx, child)
		if err != nil {
			return thread.MergeReport{}, fmt.Errorf("continue the merge of %s: %w", name, err)
		}
		report := thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir}
		what, err := m.cfg.Merges.Continue(git, in.Dir)
		if err != nil {
			return report, fmt.Errorf("continue the merge of %s: %w", name, err)
		}
		if len(what.Conflicts) > 0 {
			report.Conflicts = what.Conflicts
			return report, thread.Hint(fmt.Errorf("continue the merge of %s: %s: %w", name,
				plaintext.Count(len(what.Conflicts), "file"), thread.ErrConflict), "resolve the conflicts in "+in.Dir)
		}
		report.Commit = what.Commit
		report.LeftOut = m.notices.leftOut(ctx, thread.OpMerge, child.live.id, in.Dir, child.live.thread().Worktree.Path)
		return m.merged(ctx, child, intent, in, report)
	})
}

// Abort aborts a merge with conflicts; the thread's own branch keeps its commit.
func (m *Merges) Abort(ctx context.Context, ref string) error {
	child, err := m.registry.find(ref)
	if err != nil {
		return err
	}
	_, err = m.detached(ctx, m.mergeOf(child), []thread.ID{child.live.id}, func(ctx, _ context.Context) (thread.MergeReport, error) {
		intent, in, err := m.openMerge(ctx, child)
		if err == nil {
			err = m.cfg.Merges.Abort(ctx, in.Dir)
		}
		if err != nil {
			return thread.MergeReport{}, fmt.Errorf("abort the merge of %s: %w", child.live.thread().Name, err)
		}
		child.live.mergesInto("")
		m.notMerged(ctx, child, m.registry.run(in.Into))
		return thread.MergeReport{}, m.intents.settle(ctx, intent)
	})
	return err
}

// notMerged records with both threads that their merge was aborted.
func (m *Merges) notMerged(ctx context.Context, lines ...*run) {
	for _, l := range lines {
		if l == nil {
			continue
		}
		err := l.live.do(ctx, func(ctx context.Context) error {
			_, err := l.recorder.Safety(ctx, thread.NoteNotMerged, false)
			return err
		})
		if err != nil {
			m.cfg.Log.Warn("record an aborted merge", "thread", string(l.live.id), "err", err)
		}
	}
}

// repairMerge finds out what became of a merge that a crash interrupted. One with conflicts waits for the person.
func (m *Merges) repairMerge(ctx context.Context, i thread.Intent) (keep bool, err error) {
	child, err := m.registry.certain(ctx, i.Thread)
	if err != nil {
		return true, err
	}
	if m.cfg.Merges == nil || child == nil {
		return child != nil, nil
	}
	var in mergeIntent
	if err := json.Unmarshal(i.Data, &in); err != nil {
		return false, fmt.Errorf("read the intent: %w", err)
	}
	t := child.live.thread()
	if err := m.cfg.Merges.Repair(ctx, in.Dir); err != nil {
		return true, err
	}
	under, err := m.cfg.Merges.InProgress(ctx, in.Dir)
	if err != nil {
		return true, err
	}
	if under {
		child.live.mergesInto(in.Target)
		m.notices.post(i.Thread, thread.LevelWarn, "the merge of %s into %s is not finished: "+
			"resolve the remaining conflicts in %s, then continue or abort", t.DisplayName(), in.Target, in.Dir)
		return true, nil
	}
	all, _, err := m.cfg.Merges.Reachable(ctx, t.Worktree.Path, in.Dir)
	if err != nil {
		return true, err
	}
	if all && t.Outcome.Kind != thread.OutcomeMerged {
		err = child.live.update(ctx, func(t *thread.Thread) error {
			t.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Into: in.Into, At: m.cfg.now()}
			return nil
		})
		m.notices.post(i.Thread, thread.LevelInfo, "the merge of %s into %s was completed before the crash", t.DisplayName(),
			in.Target)
		return err != nil, err
	}
	if !all {
		m.notices.post(i.Thread, thread.LevelWarn, "the merge of %s into %s was interrupted; nothing is lost, merge again",
			t.DisplayName(), in.Target)
	}
	return false, nil
}
