package roster

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
)

// Loss is a thread whose turns were lost with the store.
type Loss struct {
	// Was is the thread as listed, with its current name.
	Was thread.Thread
	// Turn is the newest turn that the store has; Gone is set if it had lost the thread itself.
	Turn int
	Gone bool
}

// String describes the loss for people, and how to recover.
func (l Loss) String() string {
	if l.Gone {
		return fmt.Sprintf("thread %q: all its %d turns; %s", l.Was.Name, l.Was.Turn, recovery(l.Was))
	}
	return fmt.Sprintf("the newest turns of thread %q: it is at turn %d of %d now; %s",
		l.Was.Name, l.Turn, l.Was.Turn, recovery(l.Was))
}

// Recovery returns where the rest of its conversation may be.
func (l Loss) Recovery() string { return recovery(l.Was) }

// Restore compares a store, of which stored are the threads, with the list after a start. A listed thread that the store
// lost is stored again without its turns, so that it is shown and its agent's own session can be resumed. It returns each
// loss, and whether it changed the store.
func (r *Roster) Restore(ctx context.Context, store thread.Store, stored []thread.Thread) (lost []Loss, changed bool,
	err error) {
	has := make(map[thread.ID]*thread.Thread, len(stored))
	for i := range stored {
		has[stored[i].ID] = &stored[i]
	}
	for _, listed := range r.all() {
		now := has[listed.ID]
		if now != nil && (now.Agent != "" || listed.Agent == "") && (listed.Head == "" || listed.Head == now.Head) {
			continue // as listed
		}
		t := *listed
		if now == nil {
			changed = true
			name, err := again(ctx, store, t)
			if err != nil {
				return lost, changed, fmt.Errorf("restore thread %q: %w", t.Name, err)
			}
			t.Name = name
			lost = append(lost, Loss{Was: t, Gone: true})
			continue
		}
		if now.Agent == "" && t.Agent != "" { // its own record was damaged
			changed = true
			again, err := record(ctx, store, t)
			if err != nil {
				return lost, changed, fmt.Errorf("restore thread %q: %w", t.Name, err)
			}
			now = &again
		}
		if t.Head == "" || t.Head == now.Head {
			continue
		}
		if _, err := store.Checkpoint(ctx, t.Head); errors.Is(err, thread.ErrNotFound) {
			t.Name = now.Name
			lost = append(lost, Loss{Was: t, Turn: now.Turn})
		} else if err != nil && !errors.Is(err, thread.ErrDamaged) {
			return lost, changed, fmt.Errorf("compare thread %q: %w", t.Name, err)
		}
	}
	return lost, changed, nil
}

// recovery returns where the rest of a conversation may be.
func recovery(t thread.Thread) string {
	if t.Session == "" {
		return "snapshots of its files are in the repository under refs/orchestrator/" + string(t.ID)
	}
	return fmt.Sprintf("`orchestrator resume` continues in its agent's own session (%s %s), "+
		"and snapshots of its files are in the repository under refs/orchestrator/%s",
		t.Agent, t.Session, t.ID)
}

// record stores what the list knows about a thread of which only the checkpoints were left.
func record(ctx context.Context, store thread.Store, listed thread.Thread) (now thread.Thread, err error) {
	for _, name := range []string{listed.Name, thread.NewName(listed.Name)} {
		now, err = store.UpdateThread(ctx, listed.ID, func(t *thread.Thread) error {
			was := *t
			*t = listed
			t.Name, t.Head, t.Turn, t.ForkPoint, t.Handoff = name, was.Head, was.Turn, was.ForkPoint, nil
			return nil
		})
		if !errors.Is(err, thread.ErrNameTaken) {
			break
		}
	}
	return now, err
}

// again stores a thread that only the list knows.
func again(ctx context.Context, store thread.Store, t thread.Thread) (name string, err error) {
	if point, err := store.Checkpoint(ctx, t.ForkPoint); err != nil || t.Session != "" {
		t.Head, t.ForkPoint, t.Handoff = "", "", nil // they are lost as well, or superseded by the agent's own session
	} else {
		t.Head, t.Turn = point.ID, point.Turn // there were no turns since the fork, or they are lost
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
