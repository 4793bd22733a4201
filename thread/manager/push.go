package manager

import (
	"cmp"
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Push commits a thread's work with the person's identity and pushes its branch.
func (m *Merges) Push(ctx context.Context, r thread.PushRequest) (thread.PushReport, error) {
	l, err := m.registry.find(r.Thread)
	if err != nil {
		return thread.PushReport{}, err
	}
	t := l.live.thread()
	does := "push"
	if r.PR {
		does = "open a pull request for"
	}
	pusher, ok := m.cfg.Merges.(thread.Pusher)
	switch {
	case !ok:
		return thread.PushReport{}, fmt.Errorf("%s %s: %w", does, t.Name, thread.ErrNoRepository)
	case t.Worktree.Branch == "":
		return thread.PushReport{}, thread.Hint(
			thread.Kindf(thread.ErrRefused, "%s %s: it has no branch of its own", does, t.Name),
			"fork it first, or push the project's branch with git")
	}
	on := ""
	if err = l.live.do(ctx, func(ctx context.Context) error { return bringBack(ctx, l) }); err == nil {
		t = l.live.thread()
		on, err = m.branchOf(ctx, t)
	}
	if err != nil {
		return thread.PushReport{}, fmt.Errorf("%s %s: %w", does, t.Name, err)
	}
	report := thread.PushReport{Branch: on}
	release, err := m.merging.take(ctx, "the push of "+t.DisplayName(), l.live.id)
	if err != nil {
		return thread.PushReport{}, fmt.Errorf("%s %s: %w", does, t.Name, err)
	}
	defer release()
	err = l.live.do(ctx, func(ctx context.Context) error {
		if err := l.idle(ctx); err != nil {
			return err
		}
		if _, err := l.recorder.Safety(ctx, "before pushing", true); err != nil {
			return err
		}
		report.Commit, err = m.cfg.Merges.Commit(ctx, t.Worktree.Path,
			cmp.Or(r.Message, cmp.Or(plaintext.FirstLine(t.Label), t.Name)))
		return err
	})
	if err == nil {
		report.Remote, err = pusher.Push(ctx, t.Worktree.Path, on)
	}
	if err == nil && r.PR {
		body := cmp.Or(m.past.LastAnswer(ctx, t), t.Label)
		report.PR, err = pusher.OpenPR(ctx, t.Worktree.Path, on, r.Base, cmp.Or(plaintext.FirstLine(t.Label), t.Name), body)
	}
	if err != nil {
		return report, fmt.Errorf("%s %s: %w", does, t.Name, err)
	}
	report.LeftOut = m.notices.leftOut(ctx, thread.OpPush, l.live.id, t.Worktree.Path, t.Worktree.Base)
	return report, nil
}
