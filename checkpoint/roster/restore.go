package roster

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
)

// Restore compares a store with the list after a start. A listed thread that the store lost is stored again without
// its turns, so that it is shown and its agent's own session can be resumed. What it returns names each loss, for
// people.
func (r *Roster) Restore(ctx context.Context, store thread.Store) (lost []string, err error) {
	stored, err := store.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare the list of threads: %w", err)
	}
	has := make(map[thread.ID]thread.Thread, len(stored))
	for _, t := range stored {
		has[t.ID] = t
	}
	listed, _ := r.Threads()
	for _, t := range listed {
		now, ok := has[t.ID]
		if !ok {
			name, err := again(ctx, store, t)
			if err != nil {
				return lost, fmt.Errorf("list thread %q again: %w", t.Name, err)
			}
			lost = append(lost, fmt.Sprintf("thread %q: our record of its %d turns; %s", name, t.Turn, wayBack(t)))
			continue
		}
		if t.Head == "" || t.Head == now.Head {
			continue
		}
		if _, err := store.Checkpoint(ctx, t.Head); errors.Is(err, thread.ErrNotFound) {
			lost = append(lost, fmt.Sprintf("the newest turns of thread %q: it is back at turn %d of %d; %s", now.Name, now.Turn, t.Turn, wayBack(t)))
		} else if err != nil && !errors.Is(err, thread.ErrDamaged) {
			return lost, fmt.Errorf("compare thread %q: %w", t.Name, err)
		}
	}
	return lost, nil
}

// wayBack says where the rest of a conversation may be.
func wayBack(t thread.Thread) string {
	if t.Session == "" {
		return "files that were kept of it are in the repository's refs/orchestrator/" + string(t.ID)
	}
	return fmt.Sprintf("`orchestrator resume` continues in its agent's own session (%s %s), and files that were kept are in the repository's refs/orchestrator/%s",
		t.Agent, t.Session, t.ID)
}

// again stores a thread of which only the list knows.
func again(ctx context.Context, store thread.Store, t thread.Thread) (name string, err error) {
	if point, err := store.Checkpoint(ctx, t.ForkPoint); err != nil || t.Session != "" {
		t.Head, t.ForkPoint, t.Handoff = "", "", nil // they are lost as well, or behind the agent's own session
	} else {
		t.Head, t.Turn = point.ID, point.Turn // nothing was said since the fork, or that is lost
	}
	t.Interrupted = t.Archived.IsZero() && t.Deleted.IsZero() && t.Turn > 0
	for range 8 {
		if err = store.CreateThread(ctx, t); !errors.Is(err, thread.ErrNameTaken) {
			break
		}
		t.Name = thread.NewName(t.Name)
	}
	return t.Name, err
}
