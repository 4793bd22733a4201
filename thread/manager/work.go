package manager

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
)

// work counts what runs in the background, so that Close can wait for it.
type work struct {
	ctx     context.Context // of steps and background work; cancelled when Close stops waiting
	cancel  context.CancelFunc
	closing context.Context // ends with the cause errClosed when Close begins; for slow work that nothing depends on
	close   context.CancelCauseFunc
	drained chan struct{} // closed when nothing is running any more, after Close began

	mu    sync.Mutex // guards the fields below
	busy  int        // running goroutines: queues, timers, prompts being typed
	phase workPhase
}

// workPhase is how far the end of the server has come.
type workPhase uint8

const (
	working  workPhase = iota
	stopping           // Close stops the agents
	draining           // Close waits until nothing runs any more
	closed             // nothing new may start
)

func newWork() *work {
	ctx, cancel := context.WithCancel(context.Background())
	closing, end := context.WithCancelCause(ctx)
	return &work{ctx: ctx, cancel: cancel, closing: closing, close: end, drained: make(chan struct{})}
}

// errClosed is returned after Close.
var errClosed = fmt.Errorf("the server is stopping: %w", thread.ErrNotRunning)

// begin counts a goroutine in, to be counted out with done; false once closed.
func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase == closed {
		return false
	}
	w.busy++
	return true
}

// done counts a goroutine out. The last one after Close began ends the wait.
func (w *work) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.end()
}

// end closes when nothing runs any more. mu is held.
func (w *work) end() {
	if w.busy == 0 && w.phase == draining {
		w.phase = closed
		close(w.drained)
	}
}

// stop begins the end; false if it has begun.
func (w *work) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.phase != working {
		return false
	}
	w.phase = stopping
	w.close(errClosed)
	return true
}

// drain waits for running operations until ctx ends; nothing new starts after it. Before that, while there is still time
// to spool their results, it stops waiting for the store.
func (w *work) drain(ctx context.Context) error {
	w.mu.Lock()
	w.phase = draining
	w.end()
	w.mu.Unlock()
	err := w.wait(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = closed
	return err
}

func (w *work) wait(ctx context.Context) error {
	soon := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		soon, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}
	select {
	case <-w.drained:
		return nil
	case <-soon.Done():
		w.cancel()
	}
	select {
	case <-w.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for running operations: %w", ctx.Err())
	}
}

// closes reports whether the server is about to stop.
func (w *work) closes() bool { return w.closing.Err() != nil }
