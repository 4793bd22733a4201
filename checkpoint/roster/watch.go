package roster

import (
	"context"
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
	list *Roster
	now  func() time.Time
}

// Watch makes a list follow a store, starting from the store's current threads.
func (r *Roster) Watch(b Backend, stored []thread.Thread, now func() time.Time) (Watched, error) {
	return r.Follow(b, now), r.Set(stored, now())
}

// Follow is Watch for a list that has all of the store.
func (r *Roster) Follow(b Backend, now func() time.Time) Watched {
	return Watched{Backend: b, list: r, now: now}
}

// CreateThread implements thread.Threads.
func (w Watched) CreateThread(ctx context.Context, t thread.Thread) error {
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
	t, err := w.Backend.UpdateThread(ctx, id, change)
	if err == nil {
		_ = w.list.Put(t, w.now())
	}
	return t, err
}

// PurgeThread implements thread.Threads.
func (w Watched) PurgeThread(ctx context.Context, id thread.ID) error {
	_ = w.list.Drop(id, w.now())
	return w.Backend.PurgeThread(ctx, id)
}

// PutCheckpoint implements thread.Checkpoints.
func (w Watched) PutCheckpoint(ctx context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	put, err := w.Backend.PutCheckpoint(ctx, c, d)
	if err == nil {
		if known, _ := w.list.Advance(put, w.now()); !known {
			if t, err := w.Backend.Thread(ctx, put.Thread); err == nil {
				_ = w.list.Put(t, w.now())
			}
		}
	}
	return put, err
}
