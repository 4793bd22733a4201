package roster

import (
	"context"
	"sync/atomic"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// Backend is a store whose threads can be listed.
type Backend interface {
	thread.Store
	thread.Unreadables
	checkpoint.Deltas
	ThreadSizes(context.Context) (map[thread.ID]int64, error)
}

// Watched is a store that keeps the list up to date. An error of the list fails no call: the list may lag.
type Watched struct {
	Backend
	list  *Roster
	now   func() time.Time
	first *atomic.Pointer[[]thread.Thread] // what was read at the start, until it is asked for or something is written
}

// Watch makes a list follow a store, starting from the store's current threads, which it takes over: the first who asks
// for the threads gets them, unless one was changed.
func (r *Roster) Watch(b Backend, stored []thread.Thread, now func() time.Time) (Watched, error) {
	err := r.Set(stored, now())
	w := Watched{Backend: b, list: r, now: now, first: &atomic.Pointer[[]thread.Thread]{}}
	w.first.Store(&stored)
	return w, err
}

// Threads implements thread.Threads.
func (w Watched) Threads(ctx context.Context) ([]thread.Thread, error) {
	if first := w.first.Swap(nil); first != nil {
		return *first, nil
	}
	return w.Backend.Threads(ctx)
}

// CreateThread implements thread.Threads.
func (w Watched) CreateThread(ctx context.Context, t thread.Thread) error {
	w.first.Store(nil)
	err := w.Backend.CreateThread(ctx, t)
	if err == nil {
		_ = w.list.Put(checkpoint.NormalThread(t), w.now())
	}
	return err
}

// UpdateThread implements thread.Threads.
func (w Watched) UpdateThread(
	ctx context.Context, id thread.ID, change func(*thread.Thread) error,
) (thread.Thread, error) {
	w.first.Store(nil)
	t, err := w.Backend.UpdateThread(ctx, id, change)
	if err == nil {
		_ = w.list.Put(t, w.now())
	}
	return t, err
}

// PurgeThread implements thread.Threads.
func (w Watched) PurgeThread(ctx context.Context, id thread.ID) error {
	w.first.Store(nil)
	_ = w.list.Drop(id, w.now())
	return w.Backend.PurgeThread(ctx, id)
}

// PutCheckpoint implements thread.Checkpoints.
func (w Watched) PutCheckpoint(ctx context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	w.first.Store(nil)
	put, err := w.Backend.PutCheckpoint(ctx, c, d)
	if err == nil {
		_ = w.list.Advance(put, w.now())
	}
	return put, err
}
