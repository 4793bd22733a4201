package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Finish archives a thread and removes its worktree if everything in it is part of the branch that it was merged into;
// otherwise the worktree stays and the report says why.
func (m *Merges) Finish(ctx context.Context, ref string) (thread.MergeReport, error) {
	child, err := m.registry.find(ref)
	if err != nil {
		return thread.MergeReport{}, err
	}
	name := child.live.thread().Name
	if child.live.thread().Worktree.Path == "" {
		if err := m.life.Archive(ctx, ref); err != nil {
			return thread.MergeReport{}, fmt.Errorf("finish %s: %w", name, err)
		}
		return thread.MergeReport{Finished: true, Dir: child.live.thread().Dir}, nil
	}
	r := thread.MergeRequest{Thread: string(child.live.id)}
	into, err := m.registry.certain(ctx, child.live.thread().Outcome.Into)
	if err != nil {
		return thread.MergeReport{}, fmt.Errorf("finish %s: %w", name, err)
	}
	if into != nil {
		r.Into = string(into.live.id)
	}
	in, _, err := m.mergeTarget(ctx, child, r)
	if err == nil {
		err = child.live.do(ctx, func(ctx context.Context) error { return bringBack(ctx, child) })
	}
	if err != nil {
		return thread.MergeReport{}, fmt.Errorf("finish %s: %w", name, err)
	}
	what, only := "the finish of "+child.live.thread().DisplayName(), []thread.ID{child.live.id}
	return m.detached(ctx, what, only, func(ctx, _ context.Context) (thread.MergeReport, error) {
		return m.finish(ctx, child, in, thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir})
	})
}

// finish is the end of Finish and of a merge with the finish option. The exclusive of merges is held.
func (m *Merges) finish(
	ctx context.Context, child *run, in mergeIntent, report thread.MergeReport,
) (thread.MergeReport, error) {
	err := child.live.do(ctx, func(ctx context.Context) error {
		if err := child.idle(ctx); err != nil {
			return err
		}
		intent, err := m.intents.begin(ctx, intentFinish, child.live.id, in)
		if err != nil {
			return err
		}
		err = m.finishStep(ctx, child, in, &report)
		return errors.Join(err, m.intents.settle(ctx, intent))
	})
	if err != nil {
		return report, fmt.Errorf("finish %s: %w", child.live.thread().Name, err)
	}
	return report, nil
}

func (m *Merges) finishStep(ctx context.Context, child *run, in mergeIntent, report *thread.MergeReport) error {
	if err := child.stop(ctx, "finished"); err != nil {
		return err
	}
	if _, err := child.recorder.Safety(ctx, "before finishing", true); err != nil {
		return err
	}
	failpoint.Hit("thread.finish.safe")
	all, why, err := m.cfg.Merges.Reachable(ctx, child.live.thread().Worktree.Path, in.Dir)
	if err != nil {
		return fmt.Errorf("check whether everything is merged: %w", err)
	}
	if err := child.archive(ctx); err != nil {
		return err
	}
	failpoint.Hit("thread.finish.archived")
	report.Finished = true
	if !all {
		report.Kept = cmp.Or(why, "it has unmerged changes")
		return nil
	}
	if report.Undone, err = child.removeWorktree(ctx); err != nil {
		report.Kept = err.Error() // archived all the same; nothing is lost
		return nil
	}
	failpoint.Hit("thread.finish.removed")
	return nil
}
