package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	exec "orchestrator/thread/work"
)

// Parts has the use cases of runs that are agents of a plan's task. A round of an agent has one run: its thread names the part
// from its first row on, so that it is found again whatever crash came between.
type Parts struct {
	cfg        *Config
	registry   *registry
	creation   *Creation
	executions *Executions
	prompts    *Prompts
	budgets    *Budgets
	merges     *Merges
	lifecycle  *Lifecycle

	mu      sync.Mutex // guards threads
	threads map[thread.Part][]thread.ID
}

// Find returns the newest execution of a round. One whose prompt was not stored is none: nobody was told of it, and it never
// begins.
func (m *Parts) Find(ctx context.Context, part thread.Part) (exec.Execution, bool, error) {
	record, can := m.cfg.Runs.Store.(exec.Record)
	if !can {
		return exec.Execution{}, false, thread.Kindf(thread.ErrUnsupported, "this server runs no agents without a terminal")
	}
	list, err := record.Recorded(ctx, exec.RecordQuery{Part: part, Kinds: []exec.Kind{exec.KindRun}})
	if err != nil {
		return exec.Execution{}, false, err
	}
	for _, x := range list {
		if begun, err := m.executions.begun(ctx, x); err != nil || begun {
			return x, begun, err
		}
	}
	return exec.Execution{}, false, nil
}

// of returns the threads of a round, oldest first.
func (m *Parts) of(part thread.Part) []thread.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.know()
	return m.threads[part]
}

// know reads which threads there are, once: those that come later are started here. mu is held.
func (m *Parts) know() {
	if m.threads != nil {
		return
	}
	m.threads = map[thread.Part][]thread.ID{}
	for _, l := range m.registry.index.all() {
		if t := l.thread(); t.Once.Part != (thread.Part{}) {
			m.threads[t.Once.Part] = append(m.threads[t.Once.Part], t.ID)
		}
	}
}

// Start starts the run of a round, unless there is one. Who asks may leave meanwhile: the run is started all the same. It must
// not be called at once for one part.
func (m *Parts) Start(ctx context.Context, r thread.NewRequest) (exec.Execution, error) {
	ctx = context.WithoutCancel(ctx)
	part := r.Once.Part
	if x, ok, err := m.Find(ctx, part); ok || err != nil {
		return x, err
	}
	for _, id := range m.of(part) { // a crash left it
		if err := m.takeBack(ctx, id); err != nil {
			return exec.Execution{}, fmt.Errorf("take back what was left of it: %w", err)
		}
	}
	s, err := m.creation.New(ctx, r)
	if err != nil {
		return exec.Execution{}, err
	}
	m.mu.Lock()
	m.threads[part] = append(m.threads[part], s.ID)
	m.mu.Unlock()
	if s.Run == nil {
		return exec.Execution{}, fmt.Errorf("its execution: %w", thread.ErrNotFound)
	}
	return m.cfg.Runs.Store.Execution(ctx, s.Run.Execution)
}

// takeBack removes a thread of a round that never had a prompt.
func (m *Parts) takeBack(ctx context.Context, id thread.ID) error {
	l, err := m.registry.certain(ctx, id)
	if err != nil {
		return err
	}
	if l != nil {
		if err := m.creation.takeBackNew(l, nil); err != nil {
			return err
		}
	}
	return nil
}

// Again gives the thread of a round another prompt: its next execution.
func (m *Parts) Again(ctx context.Context, of thread.ID, text string) (exec.Execution, error) {
	ctx = context.WithoutCancel(ctx)
	p, err := m.prompts.Ask(ctx, string(of), thread.AskRequest{Text: text, Lines: true})
	if err != nil {
		return exec.Execution{}, err
	}
	list, err := m.cfg.Runs.Store.Executions(ctx, exec.Query{Thread: of})
	if err != nil {
		return exec.Execution{}, err
	}
	for _, x := range list {
		if x.Prompt == p.ID {
			return x, nil
		}
	}
	return exec.Execution{}, fmt.Errorf("the execution of the prompt: %w", thread.ErrNotFound)
}

// Cancel ends an execution, if it has not ended: first its row, then its process.
func (m *Parts) Cancel(ctx context.Context, id exec.ID, why string) error {
	_, err := m.executions.Cancel(ctx, id, why)
	if errors.Is(err, thread.ErrNotRunning) && !errors.Is(err, errClosed) || errors.Is(err, thread.ErrNotFound) {
		return nil
	}
	return err
}

// Dispose disposes of the worktree of an execution that has completed, in the background, once nothing of it is handed over any
// more. If the server ends before, the worktree stays.
func (m *Parts) Dispose(x exec.Execution) { m.merges.disposed(x) }

// restAfter is how long after what an agent handed over its thread is let rest: the end of its run is written down by then.
const restAfter = time.Second

// Rest has a thread without a worktree kept in the store only, unless something of it is under way. It does not block.
func (m *Parts) Rest(of thread.ID) {
	m.merges.inBackground(restAfter, func() {
		l := m.registry.loaded(of)
		if l == nil || ownWorktree(l.live.thread()) {
			return
		}
		if err := m.lifecycle.Rest(m.merges.work.ctx, of); err != nil {
			m.cfg.Log.Debug("let a thread of a plan rest", "thread", string(of), "err", err)
		}
	})
}

// Budget sets what a group of runs may spend.
func (m *Parts) Budget(ctx context.Context, group string, b thread.Budget) error {
	if m.budgets.known().Of(budget.Scope{Kind: budget.Group, ID: group}).Set() {
		return nil
	}
	_, err := m.budgets.Set(ctx, budget.Change{Scope: budget.GroupPrefix + group, USD: b.USD, Tokens: b.Tokens})
	return err
}
