package manager

import (
	"context"
	"fmt"

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
	newest, err := store.Executions(ctx, exec.Query{Limit: 1000})
	if err != nil {
		return fmt.Errorf("read the executions: %w", err)
	}
	for _, x := range newest {
		if x.State.Final() {
			executions.open.put(x)
		}
	}
	open, err := store.Open(ctx)
	if err != nil {
		return fmt.Errorf("read the executions: %w", err)
	}
	for _, x := range open {
		l := m.registry.run(x.Thread)
		if l == nil {
			continue // another server's
		}
		l.typist.bind(x.Prompt)
		executions.open.put(x)
		// After what an earlier server left with the thread's prompts is settled.
		l.live.enqueue(func() { l.reconcile(m.work.ctx); recoverRun(m.work.ctx, l, x) })
	}
	for _, l := range m.registry.all() {
		if l.live.thread().Once.From != "" { // a crash left it in a place that is gone
			l.live.enqueue(func() { goHome(m.work.ctx, l) })
		}
	}
	m.queueLeft()
	executions.dispatcher.run()
	return nil
}

// queueLeft has prompts become executions that were sent to a terminal of a thread that now runs without.
func (m *recovery) queueLeft() {
	for _, l := range m.registry.all() {
		if t := l.live.thread(); t.Once.On && t.Deleted.IsZero() && t.Archived.IsZero() {
			l.live.enqueue(func() { queuePrompts(m.work.ctx, l) })
		}
	}
}
