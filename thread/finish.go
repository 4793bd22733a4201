package thread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orchestrator/thread/failpoint"
)

// Finish archives a thread and removes its worktree when all that it holds is part of what it was
// merged into; otherwise the worktree stays and the report says why.
func (m *Manager) Finish(ctx context.Context, ref string) (MergeReport, error) {
	child, err := m.find(ref)
	if err != nil {
		return MergeReport{}, err
	}
	name := child.thread().Name
	if child.thread().Worktree.Path == "" {
		if err := m.Archive(ctx, ref); err != nil {
			return MergeReport{}, fmt.Errorf("finish %s: %w", name, err)
		}
		return MergeReport{Finished: true, Dir: child.thread().Dir}, nil
	}
	r := MergeRequest{Thread: string(child.id)}
	if into := child.thread().Outcome.Into; into != "" && m.line(into) != nil {
		r.Into = string(into)
	}
	in, _, err := m.mergeTarget(ctx, child, r)
	if err != nil {
		return MergeReport{}, fmt.Errorf("finish %s: %w", name, err)
	}
	return m.detached(ctx, func(ctx context.Context) (MergeReport, error) {
		m.merging.Lock()
		defer m.merging.Unlock()
		return m.finish(ctx, child, in, MergeReport{Branch: in.Branch, Into: in.Target, Dir: in.Dir})
	})
}

// finish is the end of Finish and of a merge that asked for it. Manager.merging is held.
func (m *Manager) finish(ctx context.Context, child *line, in mergeIntent, report MergeReport) (MergeReport, error) {
	err := child.do(ctx, func(ctx context.Context) error {
		if err := child.idle(ctx); err != nil {
			return err
		}
		intent, err := m.intend(ctx, intentFinish, child.id, in)
		if err != nil {
			return err
		}
		err = m.finishStep(ctx, child, in, &report)
		return errors.Join(err, m.settled(ctx, intent))
	})
	if err != nil {
		return report, fmt.Errorf("finish %s: %w", child.thread().Name, err)
	}
	return report, nil
}

func (m *Manager) finishStep(ctx context.Context, child *line, in mergeIntent, report *MergeReport) error {
	if err := child.stop(ctx, "finished"); err != nil {
		return err
	}
	if _, err := child.safety(ctx, "before it was finished", true); err != nil {
		return err
	}
	failpoint.Hit("thread.finish.safe")
	all, why, err := m.cfg.Merges.Reachable(ctx, child.thread().Worktree.Path, in.Dir)
	if err != nil {
		return fmt.Errorf("see whether all is merged: %w", err)
	}
	if err := child.archive(ctx); err != nil {
		return err
	}
	failpoint.Hit("thread.finish.archived")
	report.Finished = true
	if !all {
		report.Kept = orWord(why, "not all of it is merged")
		return nil
	}
	if err := m.removeWorktree(ctx, child); err != nil {
		report.Kept = err.Error() // archived all the same; nothing is lost
		return nil
	}
	failpoint.Hit("thread.finish.removed")
	return nil
}

// toldKey is the setting that holds what a thread's agent is still to be told.
func toldKey(id ID) string { return "tell:" + string(id) }

// tell sends a text to a thread's agent when it waits for a prompt, and keeps it until it does.
func (m *Manager) tell(ctx context.Context, l *line, text string) {
	err := l.do(ctx, func(ctx context.Context) error {
		waiting, err := m.untold(ctx, l.id)
		if err != nil {
			return err
		}
		return m.keepUntold(ctx, l, append(waiting, text))
	})
	if err != nil {
		m.notice(l.id, LevelWarn, "%s could not be told of the merge: %v", l.thread().Name, err)
		return
	}
	l.enqueue(func() { l.deliver(m.ctx) })
}

// untold reads what a thread's agent is still to be told.
func (m *Manager) untold(ctx context.Context, id ID) ([]string, error) {
	raw, err := m.cfg.Store.Setting(ctx, toldKey(id))
	if err != nil || raw == "" {
		return nil, err
	}
	var texts []string
	if err := json.Unmarshal([]byte(raw), &texts); err != nil {
		return nil, nil //nolint:nilerr // written by us alone; what cannot be read is not worth a failure
	}
	return texts, nil
}

func (m *Manager) keepUntold(ctx context.Context, l *line, texts []string) error {
	raw := ""
	if len(texts) > 0 {
		b, err := json.Marshal(texts)
		if err != nil {
			return err
		}
		raw = string(b)
	}
	if err := m.cfg.Store.SetSetting(ctx, toldKey(l.id), raw); err != nil {
		return fmt.Errorf("keep what is to be told: %w", err)
	}
	m.mu.Lock()
	l.untold = len(texts) > 0
	m.mu.Unlock()
	return nil
}

// deliver is the step that sends the oldest text that waits, if the agent takes a prompt now.
func (l *line) deliver(ctx context.Context) {
	m := l.m
	m.mu.Lock()
	s, state := l.session, l.shown.State
	m.mu.Unlock()
	if s == nil || state != StateIdle && state != StateDone {
		return
	}
	texts, err := m.untold(ctx, l.id)
	if err != nil || len(texts) == 0 {
		return
	}
	// Taken off first: told twice is worse than a notice that it was not told.
	if err := m.keepUntold(ctx, l, texts[1:]); err != nil {
		m.cfg.Log.Warn("tell a thread", "thread", string(l.id), "err", err)
		return
	}
	send, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := s.Send(send, texts[0]); err != nil {
		m.notice(l.id, LevelWarn, "%s was not told of a merge: %v", l.thread().Name, err)
	}
}
