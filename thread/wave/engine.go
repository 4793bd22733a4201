package wave

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Engine has the tasks that this server works on. What happens to one task happens one after the other, and each step begins
// with what is stored; tasks do not wait for each other. A task that has ended takes no memory.
type Engine struct {
	cfg Config
	ctx context.Context
	end context.CancelFunc
	// starting bounds how many runs are being accepted at once: each takes its turn at the store.
	starting chan struct{}
	found    atomic.Int64 // what sweeps have found
	work     sync.WaitGroup

	mu    sync.Mutex // guards tasks, and queue and busy of each
	tasks map[string]*running
}

// mostStarting is how many runs are being accepted at once.
const mostStarting = 8

// running is a task as this server has it. All but queue and busy is used by its steps only.
type running struct {
	name  string
	queue []func(*running)
	busy  bool

	board *plan.Board // nil if it is to be read
	// about are the rounds of nodes whose run is being accepted, or whose hand-over is being stored: by agent.
	about map[string]int
	early map[string]work.Execution // that had ended before it was noted that they had been accepted: by agent
}

// pause is how long until something is tried again that the store refused.
const pause = time.Second

func newEngine(cfg Config) *Engine {
	ctx, end := context.WithCancel(context.Background())
	return &Engine{cfg: cfg, ctx: ctx, end: end, starting: make(chan struct{}, mostStarting), tasks: map[string]*running{}}
}

// do has a step of a task done after those before it. It does not block.
func (e *Engine) do(task string, step func(*running)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return
	}
	t := e.tasks[task]
	if t == nil {
		t = &running{name: task, about: map[string]int{}, early: map[string]work.Execution{}}
		e.tasks[task] = t
	}
	t.queue = append(t.queue, step)
	if !t.busy {
		t.busy = true
		e.work.Go(func() { e.steps(t) })
	}
}

// steps does a task's steps until there are none. Then a task that needs no more is forgotten.
func (e *Engine) steps(t *running) {
	for {
		e.mu.Lock()
		if len(t.queue) == 0 || e.ctx.Err() != nil {
			t.busy, t.queue = false, nil
			if len(t.about) == 0 && (t.board == nil || t.board.Task().Status != plan.InProgress) {
				delete(e.tasks, t.name)
			}
			e.mu.Unlock()
			return
		}
		step := t.queue[0]
		t.queue = t.queue[1:]
		e.mu.Unlock()
		step(t)
	}
}

// wait has a step of a task done, and waits for it. Who does not wait any longer does not end it.
func (e *Engine) wait(ctx context.Context, task string, step func(*running) error) error {
	done := make(chan error, 1)
	e.do(task, func(t *running) { done <- step(t) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return errStopping
	}
}

var errStopping = thread.Kindf(thread.ErrNotRunning, "the server is stopping")

// aside does something that takes its time beside a task's steps.
func (e *Engine) aside(do func()) { e.work.Go(do) }

// later has a step of a task done after a while.
func (e *Engine) later(task string, step func(*running)) {
	time.AfterFunc(pause, func() { e.do(task, step) })
}

// known reports whether a task is in memory.
func (e *Engine) known(task string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tasks[task] != nil
}

// passing reports whether an error is about now, and not about what was asked.
func passing(err error) bool {
	return errors.Is(err, thread.ErrUnreachable) || thread.IsDiskFull(err) || errors.Is(err, thread.ErrNotRunning) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// close stops all steps, and waits for those that have begun.
func (e *Engine) close() {
	e.mu.Lock() // no step begins once it is waited for them
	e.end()
	e.mu.Unlock()
	e.work.Wait()
}
