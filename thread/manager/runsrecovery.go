package manager

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// recoverRuns finds out what became of the executions of earlier servers, and starts those that wait.
func (m *recovery) recoverRuns(ctx context.Context, executions *Executions) error {
	store := m.cfg.Runs.Store
	if store == nil {
		return nil
	}
	if err := executions.dispatcher.load(ctx); err != nil {
		return fmt.Errorf("read what was decided about the queue: %w", err)
	}
	if err := m.showNewest(ctx, executions.open); err != nil {
		return fmt.Errorf("read the executions: %w", err)
	}
	if err := m.repairDisposals(ctx); err != nil {
		return fmt.Errorf("read interrupted operations: %w", err)
	}
	open, err := store.Open(ctx)
	if err != nil {
		return fmt.Errorf("read the executions: %w", err)
	}
	var left atomic.Int64
	left.Store(1)
	done := func() {
		if left.Add(-1) == 0 {
			executions.dispatcher.budgets.past.recovered.Store(true)
			executions.open.look()
		}
	}
	defer done()
	for _, x := range open {
		l := m.registry.run(x.Thread)
		if l == nil {
			if err := m.orphan(ctx, x); err != nil {
				m.cfg.Log.Warn("cancel a run whose thread is not in use", "execution", x.Name, "err", err)
			}
			continue
		}
		l.typist.bind(x.Prompt)
		executions.open.put(x)
		// After what an earlier server left with the thread's prompts is settled.
		left.Add(1)
		l.live.enqueue(func() { defer done(); l.reconcile(m.work.ctx); recoverRun(m.work.ctx, l, x) })
	}
	for _, l := range m.registry.all() {
		if l.live.thread().Once.From != "" { // a crash left it in a place that is gone
			l.live.enqueue(func() { goHome(m.work.ctx, l) })
		}
	}
	m.queueLeft()
	if err := executions.sessions.recover(ctx); err != nil {
		m.cfg.Log.Warn("look at the tasks of work sessions", "err", err) // their next execution settles them
	}
	executions.dispatcher.run()
	return nil
}

// showNewest shows with each thread that runs without a terminal its newest execution, if that has ended. It reads no
// further back than it must.
func (m *recovery) showNewest(ctx context.Context, open *openRuns) error {
	const page = 1000
	missing := map[thread.ID]bool{}
	for _, l := range m.registry.all() {
		if l.live.thread().Once.On {
			missing[l.live.id] = true
		}
	}
	q := exec.Query{Limit: page}
	for len(missing) > 0 {
		list, err := m.cfg.Runs.Store.Executions(ctx, q)
		if err != nil {
			return err
		}
		for _, x := range list {
			if l := m.registry.loaded(x.Thread); l != nil && missing[x.Thread] && x.State.Final() {
				open.past(l.live, x)
				l.live.showNow()
			}
			delete(missing, x.Thread) // one that is open comes with the others
			q.Before = x.ID
		}
		if len(list) < page {
			break
		}
	}
	return nil
}

// repairDisposals completes what an earlier server had begun to remove.
func (m *recovery) repairDisposals(ctx context.Context) error {
	all, err := m.cfg.Store.Intents(ctx)
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.Kind != intentDispose {
			continue
		}
		err := m.merges.repairDispose(ctx, i)
		if err == nil {
			err = m.intents.settle(ctx, i)
		}
		if err != nil {
			m.notices.post(i.Thread, thread.LevelError, "complete the removal of a worktree: %v", err)
		}
	}
	return nil
}

// orphan cancels an execution of a thread that is purged, archived or deleted. Its prompt, if there still is one, ends with
// it once the thread is restored.
func (m *recovery) orphan(ctx context.Context, x exec.Execution) error {
	t, err := m.cfg.Store.Thread(ctx, x.Thread)
	switch {
	case err != nil && !errors.Is(err, thread.ErrNotFound):
		return err
	case err == nil && t.Archived.IsZero() && t.Deleted.IsZero():
		return nil // it was skipped: the next start sees
	}
	_, err = m.cfg.Runs.Store.Supersede(ctx, x.ID, ends(exec.Cancelled, "its thread is no longer in use", m.cfg.now()))
	return err
}

// queueLeft has prompts become executions that were sent to a terminal of a thread that now runs without.
func (m *recovery) queueLeft() {
	for _, l := range m.registry.all() {
		if t := l.live.thread(); t.Once.On && t.Deleted.IsZero() && t.Archived.IsZero() {
			l.live.enqueue(func() { queuePrompts(m.work.ctx, l) })
		}
	}
}
