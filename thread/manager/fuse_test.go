package manager_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"orchestrator/thread"
)

// errDead is what a process that was killed would have seen.
var errDead = errors.New("killed")

// fuse kills a run at one of its steps: from then on nothing has any effect.
type fuse struct {
	mu    sync.Mutex // guards the fields
	at    int        // step to die at, 0 for never
	after bool       // die behind the step instead of before it
	steps int
	dead  bool
}

// blow kills the run now.
func (f *fuse) blow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

// arm counts from here on and dies at a step.
func (f *fuse) arm(at int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.after, f.steps = at, after, 0
}

// died reports whether it killed the run.
func (f *fuse) died() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// step does one thing with an effect outside, or does not because the run is dead.
func step[T any](f *fuse, do func() (T, error)) (T, error) {
	f.mu.Lock()
	f.steps++
	here := f.at > 0 && f.steps == f.at
	if here && !f.after {
		f.dead = true
	}
	dead := f.dead
	f.mu.Unlock()
	var none T
	if dead {
		return none, errDead
	}
	got, err := do()
	if here {
		f.blow()
		return none, errDead
	}
	return got, err
}

// failing is a store whose puts can be refused and whose run can be killed.
type failing struct {
	thread.Store
	fuse  *fuse
	mu    sync.Mutex // guards the fields below
	put   error
	write error // of what is told of threads and their runs
	stays bool  // put is refused after a crash too
	// turnless is a thread whose turns' checkpoints are refused.
	turnless thread.ID
	unasked  error         // of puts of prompts
	lost     bool          // the answers to puts of prompts are lost, which are stored
	unread   int           // how many reads of threads fail
	away     bool          // nothing is told of threads and prompts
	prompts  chan struct{} // reads of prompts wait until it is closed
	// held are the kinds of checkpoints whose puts wait until it is closed.
	held map[thread.CheckpointKind]chan struct{}
}

// hold has puts of a kind of checkpoints wait until release is called.
func (f *failing) hold(kind thread.CheckpointKind) (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := make(chan struct{})
	f.held = map[thread.CheckpointKind]chan struct{}{kind: wait}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held = nil
		close(wait)
	}
}

// lose has the answers to puts of prompts be lost, though they are stored, until it is called with false.
func (f *failing) lose(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = on
}

// refusePrompts has no prompt be stored until it is called with nil.
func (f *failing) refusePrompts(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unasked = err
}

// refuse has threads and their runs not be written, until it is called with nil; crashes change nothing about it.
func (f *failing) refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.write = err
}

func (f *failing) refusal() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.write
}

// refuseTurns has the checkpoints of a thread's turns be refused, until it is called with another.
func (f *failing) refuseTurns(id thread.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turnless = id
}

func (f *failing) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put = err
}

// keepRefusing has the store after the next crash refuse checkpoints too.
func (f *failing) keepRefusing() { f.stays = true }

// unreadable has so many reads of threads fail.
func (f *failing) unreadable(times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread = times
}

func (f *failing) Thread(ctx context.Context, id thread.ID) (thread.Thread, error) {
	f.mu.Lock()
	fails := f.unread > 0 || f.away
	f.unread = max(0, f.unread-1)
	f.mu.Unlock()
	if fails {
		return thread.Thread{}, fmt.Errorf("connection lost: %w", thread.ErrUnreachable)
	}
	return f.Store.Thread(ctx, id)
}

// tellNothing has reads of threads and prompts fail until it is called with false.
func (f *failing) tellNothing(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = on
}

func (f *failing) tells() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return fmt.Errorf("connection lost: %w", thread.ErrUnreachable)
	}
	return nil
}

func (f *failing) SelectThreads(ctx context.Context, q thread.Query) ([]thread.Thread, int64, error) {
	if err := f.tells(); err != nil {
		return nil, 0, err
	}
	return f.Store.SelectThreads(ctx, q)
}

// holdPrompts has reads of prompts wait until release is called.
func (f *failing) holdPrompts() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := make(chan struct{})
	f.prompts = wait
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.prompts = nil
		close(wait)
	}
}

func (f *failing) Prompts(ctx context.Context, id thread.ID, open bool, limit int) ([]thread.Prompt, error) {
	f.mu.Lock()
	wait := f.prompts
	f.mu.Unlock()
	if wait != nil {
		<-wait
	}
	if err := f.tells(); err != nil {
		return nil, err
	}
	return f.Store.Prompts(ctx, id, open, limit)
}

func (f *failing) do(do func() error) error {
	_, err := step(f.fuse, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (f *failing) PutCheckpoint(ctx context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	f.mu.Lock()
	err := f.put
	if err == nil && c.Kind == thread.KindTurn && c.Thread == f.turnless {
		err = errors.New("no turns now")
	}
	held := f.held[c.Kind]
	f.mu.Unlock()
	if held != nil {
		<-held
	}
	if err != nil {
		return thread.Checkpoint{}, err
	}
	return step(f.fuse, func() (thread.Checkpoint, error) { return f.Store.PutCheckpoint(ctx, c, d) })
}

func (f *failing) PutPrompt(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	f.mu.Lock()
	lost, refused := f.lost, f.unasked
	f.mu.Unlock()
	if refused != nil {
		return thread.Prompt{}, refused
	}
	p, err := step(f.fuse, func() (thread.Prompt, error) { return f.Store.PutPrompt(ctx, p) })
	if lost {
		return thread.Prompt{}, fmt.Errorf("connection lost: %w", thread.ErrUnreachable)
	}
	return p, err
}

func (f *failing) CreateThread(ctx context.Context, t thread.Thread) error {
	return f.do(func() error { return f.Store.CreateThread(ctx, t) })
}

func (f *failing) UpdateThread(ctx context.Context, id thread.ID, change func(*thread.Thread) error) (thread.Thread, error) {
	if err := f.refusal(); err != nil {
		return thread.Thread{}, err
	}
	return step(f.fuse, func() (thread.Thread, error) { return f.Store.UpdateThread(ctx, id, change) })
}

func (f *failing) PurgeThread(ctx context.Context, id thread.ID) error {
	return f.do(func() error { return f.Store.PurgeThread(ctx, id) })
}

func (f *failing) BeginExecution(ctx context.Context, x thread.Execution) error {
	return f.do(func() error { return f.Store.BeginExecution(ctx, x) })
}

func (f *failing) UpdateExecution(ctx context.Context, id thread.ExecutionID, pid int, session string) error {
	return f.do(func() error { return f.Store.UpdateExecution(ctx, id, pid, session) })
}

func (f *failing) EndExecution(ctx context.Context, id thread.ExecutionID, at time.Time, e thread.Exit) error {
	if err := f.refusal(); err != nil {
		return err
	}
	return f.do(func() error { return f.Store.EndExecution(ctx, id, at, e) })
}

func (f *failing) PutIntent(ctx context.Context, i thread.Intent) error {
	return f.do(func() error { return f.Store.PutIntent(ctx, i) })
}

func (f *failing) DropIntent(ctx context.Context, id string) error {
	return f.do(func() error { return f.Store.DropIntent(ctx, id) })
}

func (f *failing) SetSetting(ctx context.Context, key, value string) error {
	return f.do(func() error { return f.Store.SetSetting(ctx, key, value) })
}

// mortal is the worktrees with a fuse.
type mortal struct{ *worktrees }

func (w mortal) Take(ctx context.Context, id thread.ID, dir string, prev *thread.Snapshot) (thread.Snapshot, error) {
	return step(w.fuse, func() (thread.Snapshot, error) { return w.worktrees.Take(ctx, id, dir, prev) })
}

func (w mortal) Add(ctx context.Context, id thread.ID, dir, name string, at thread.Snapshot) (thread.Worktree, error) {
	return step(w.fuse, func() (thread.Worktree, error) { return w.worktrees.Add(ctx, id, dir, name, at) })
}

func (w mortal) Remove(ctx context.Context, id thread.ID, t thread.Worktree) (thread.Snapshot, error) {
	return step(w.fuse, func() (thread.Snapshot, error) { return w.worktrees.Remove(ctx, id, t) })
}

func (w mortal) RestoreOnly(ctx context.Context, id thread.ID, dir string, at thread.Snapshot, paths []string) (thread.Snapshot, error) {
	return step(w.fuse, func() (thread.Snapshot, error) { return w.worktrees.RestoreOnly(ctx, id, dir, at, paths) })
}

func (w mortal) Restore(ctx context.Context, id thread.ID, dir string, at thread.Snapshot) (thread.Snapshot, error) {
	return step(w.fuse, func() (thread.Snapshot, error) { return w.worktrees.Restore(ctx, id, dir, at) })
}

// Made implements thread.WorktreeFinder.
func (w mortal) Made(context.Context) (map[thread.ID]thread.Worktree, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	made := maps.Clone(w.made)
	maps.DeleteFunc(made, func(_ thread.ID, t thread.Worktree) bool { return w.removed[t.Path] })
	return made, nil
}
