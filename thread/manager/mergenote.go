package manager

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/manager/handoff"
)

// tellMerged sends the note on a thread's newest merge.
func (m *Merges) tellMerged(ctx context.Context, child, target *run, in mergeIntent) (thread.MergeReport, error) {
	t := child.live.thread()
	report := thread.MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir, Commit: t.Outcome.Commit}
	if target == nil || t.Outcome.Kind != thread.OutcomeMerged || t.Outcome.Into != target.live.id {
		return report, thread.Hint(thread.Kindf(thread.ErrInvalid, "it has not been merged into another thread's branch"),
			"merge it first")
	}
	if m.cfg.runsLines(target.live.thread().Agent) {
		return report, thread.Kindf(thread.ErrRefused, "%s", noNote)
	}
	if m.cfg.Differ != nil {
		files, err := m.cfg.Differ.Diff(ctx, t.Dir, t.Worktree.Base, "")
		if err != nil {
			m.cfg.Log.Warn("compare the files of a merge", "thread", string(t.ID), "err", err) // its worktree may be gone
		}
		report.Files = files
	}
	report.Summary, report.Told = handoff.MergeNote(t, report, m.past.LastAnswer(ctx, t)), true
	m.tell(ctx, target, report.Summary)
	return report, nil
}

// tell queues one of our notes for a thread's agent, whether it runs or not.
func (m *Merges) tell(ctx context.Context, l *run, text string) {
	if _, err := l.typist.accept(ctx, thread.Prompt{From: thread.FromNote, Text: text}); err != nil {
		m.notices.post(l.live.id, thread.LevelWarn, "cannot send %s the note on the merge: %v", l.live.thread().DisplayName(), err)
	}
}

// awaitNote returns an error while a thread's agent changes files. It waits for a turn that answers one of our notes:
// otherwise a merge would block the next one.
func (m *Merges) awaitNote(ctx context.Context, l *run) error {
	ctx, cancel := context.WithTimeout(ctx, noteLimit)
	defer cancel()
	events := m.bus.Subscribe(ctx)
	for {
		noted := l.typist.answersNote()
		err := l.live.do(ctx, l.notWorking)
		if !noted && !l.typist.answersNote() || err != nil && !errors.Is(err, thread.ErrBusy) {
			return err
		}
		for heard := false; !heard; {
			e, more := <-events
			if !more {
				return err
			}
			heard = e.ThreadID == l.live.id
		}
	}
}
