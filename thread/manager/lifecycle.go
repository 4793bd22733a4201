package manager

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/manager/events"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Lifecycle has the use cases that rename threads, change their grants, and archive, delete and restore them.
type Lifecycle struct {
	cfg      *Config
	bus      *events.Bus
	notices  *notices
	merging  *exclusive
	registry *registry
}

// Switch asks the clients to show a thread.
func (m *Lifecycle) Switch(_ context.Context, ref string) (thread.Status, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	m.bus.Publish(thread.Event{At: m.cfg.now(), Kind: thread.EventSwitch, ThreadID: l.live.id})
	return l.live.current(), nil
}

// Seen records that a person has looked at a thread.
func (m *Lifecycle) Seen(ctx context.Context, ref string) error {
	return m.change(ctx, ref, "mark as seen", func(t *thread.Thread) bool {
		was := t.Seen
		t.Seen = true
		return !was
	})
}

// Pin pins or unpins a thread. A pinned thread is listed first and never cleaned up.
func (m *Lifecycle) Pin(ctx context.Context, ref string, pinned bool) error {
	return m.change(ctx, ref, "pin", func(t *thread.Thread) bool {
		was := t.Pinned
		t.Pinned = pinned
		return was != pinned
	})
}

// SetGrants changes what a thread's agent may ask of the server; next computes the new grants from the old ones.
func (m *Lifecycle) SetGrants(ctx context.Context, ref string, next func([]thread.Grant) []thread.Grant) error {
	return m.change(ctx, ref, "set the grants of", func(t *thread.Thread) bool {
		was := t.Grants
		t.Grants = next(was)
		return !slices.Equal(was, t.Grants)
	})
}

// SetMCP changes what is decided about MCP servers for a thread; next computes it from what was.
func (m *Lifecycle) SetMCP(ctx context.Context, ref string, next func(thread.MCPSwitches) thread.MCPSwitches) error {
	return m.change(ctx, ref, "switch MCP servers of", func(t *thread.Thread) bool {
		was := t.MCP.Clone()
		t.MCP = next(was.Clone())
		return !was.Equal(t.MCP)
	})
}

// Abandon records that a thread was abandoned, and why.
func (m *Lifecycle) Abandon(ctx context.Context, ref, reason string) error {
	return m.change(ctx, ref, "abandon", func(t *thread.Thread) bool {
		t.Outcome = thread.Outcome{
			Kind: thread.OutcomeAbandoned, Reason: plaintext.Cut(strings.TrimSpace(secret.Redact(reason)), 500), At: m.cfg.now(),
		}
		return true
	})
}

// change runs a use case that only changes a thread's row; nothing is written if change returns false.
func (m *Lifecycle) change(ctx context.Context, ref, verb string, change func(*thread.Thread) bool) error {
	l, err := m.registry.find(ref)
	if err != nil {
		return err
	}
	return l.live.do(ctx, func(ctx context.Context) error {
		if t := l.live.thread(); !change(&t) {
			return nil
		}
		err := l.live.update(ctx, func(t *thread.Thread) error { change(t); return nil })
		if err != nil {
			return fmt.Errorf("%s %s: %w", verb, l.live.thread().Name, err)
		}
		return nil
	})
}

// Rename renames a thread: the slug changes, the four digits stay if possible.
func (m *Lifecycle) Rename(ctx context.Context, ref, name string) (thread.Status, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	name = secret.Redact(name)
	title := thread.Titled(name)
	if title == "" && thread.Slug(name) == thread.Slug("") &&
		!strings.EqualFold(strings.TrimSpace(name), thread.Slug("")) {
		return thread.Status{}, thread.Kindf(thread.ErrInvalid, "a name needs a letter or digit, of any script")
	}
	err = l.live.do(ctx, func(ctx context.Context) error {
		old := l.live.thread().Name
		next := renamed(old, name)
		if strings.EqualFold(strings.TrimSpace(name), next) {
			title = "" // the name says the same
		}
		for try := 0; ; try++ {
			if next == old && title == l.live.thread().Title {
				return nil
			}
			err := l.live.update(ctx, func(t *thread.Thread) error { t.Name, t.Title = next, title; return nil })
			if err == nil {
				return nil
			}
			if !errors.Is(err, thread.ErrNameTaken) || try == 100 {
				return fmt.Errorf("rename %s: %w", old, err)
			}
			next = thread.NewName(name)
		}
	})
	return l.live.current(), err
}

// renamed returns a new name with the digits of the old one.
func renamed(old, name string) string {
	digits := old[max(0, len(old)-5):]
	return thread.Slug(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), digits)) + digits
}

// Archive stops a thread's agent and archives the thread. Its worktree stays.
func (m *Lifecycle) Archive(ctx context.Context, ref string) error {
	l, err := m.registry.find(ref)
	if err != nil {
		return err
	}
	if err := m.merging.free(l.live.id); err != nil {
		return fmt.Errorf("archive %s: %w", l.live.thread().Name, err)
	}
	return l.live.do(ctx, func(ctx context.Context) error { return l.archive(ctx) })
}

// Rest archives a thread and keeps it in the store only, unless something of it is under way or a live thread was forked
// from it.
func (m *Lifecycle) Rest(ctx context.Context, id thread.ID) error {
	if err := m.Archive(ctx, string(id)); err != nil {
		return err
	}
	l := m.registry.loaded(id)
	if l == nil {
		return nil
	}
	return l.live.do(ctx, func(context.Context) error {
		if l.live.idle() && attemptOf(l) == nil && !l.open.anyOf(id) && !m.registry.index.forked(id) {
			m.registry.rest(l)
		}
		return nil
	})
}

// Unarchive restores an archived thread. One that is not archived is refused.
func (m *Lifecycle) Unarchive(ctx context.Context, ref string) error {
	l, err := m.registry.find(ref)
	if err != nil {
		return err
	}
	return l.live.do(ctx, func(ctx context.Context) error {
		var none thread.Thread
		if l.live.thread().Archived.IsZero() {
			return thread.Hint(thread.Kindf(thread.ErrRefused, "restore %s: it is not archived", l.live.thread().Name),
				"to take back turns of it, run `orchestrator checkpoint restore "+l.live.thread().Name+" TURN`")
		}
		if err := l.live.update(ctx, func(t *thread.Thread) error { t.Archived = none.Archived; return nil }); err != nil {
			return fmt.Errorf("restore %s: %w", l.live.thread().Name, err)
		}
		return nil
	})
}

// Delete stops a thread's agent and hides the thread. Undelete restores it until it is purged; until then nothing of it
// is removed, not even its worktree.
func (m *Lifecycle) Delete(ctx context.Context, ref string) error {
	l, err := m.registry.find(ref)
	if err != nil {
		return err
	}
	if err := m.merging.free(l.live.id); err != nil {
		return fmt.Errorf("delete %s: %w", l.live.thread().Name, err)
	}
	return l.live.do(ctx, func(ctx context.Context) error {
		if err := l.stop(ctx, "deleted"); err != nil {
			return err
		}
		failpoint.Hit("thread.delete.stopped")
		err := l.live.update(ctx, func(t *thread.Thread) error { t.Deleted = m.cfg.now(); return nil })
		if err != nil {
			return fmt.Errorf("delete %s: %w", l.live.thread().Name, err)
		}
		if m.cfg.gateway != nil {
			m.cfg.gateway.Unroute(l.live.id)
		}
		return cancelAll(ctx, l, "its thread was deleted")
	})
}

// Undelete restores a deleted thread.
func (m *Lifecycle) Undelete(ctx context.Context, ref string) error {
	l, err := m.registry.findDeleted(ref)
	if err != nil {
		return err
	}
	return l.live.do(ctx, func(ctx context.Context) error {
		var none thread.Thread
		if err := l.live.update(ctx, func(t *thread.Thread) error { t.Deleted = none.Deleted; return nil }); err != nil {
			return fmt.Errorf("restore %s: %w", l.live.thread().Name, err)
		}
		return nil
	})
}

// Discard removes an archived or deleted thread permanently: its uncommitted files are saved under our refs before its
// worktree is removed. Other threads are refused.
func (m *Lifecycle) Discard(ctx context.Context, id thread.ID) error {
	l, err := m.registry.certain(ctx, id)
	if err != nil {
		return fmt.Errorf("discard thread %s: %w", id, err)
	}
	if l == nil {
		return fmt.Errorf("discard thread %s: %w", id, thread.ErrNotFound)
	}
	return l.live.do(ctx, func(ctx context.Context) error {
		t := l.live.thread()
		if t.Deleted.IsZero() && t.Archived.IsZero() {
			return thread.Kindf(thread.ErrInvalid, "discard %s: not archived or deleted", t.Name)
		}
		if t.Deleted.IsZero() {
			if err := l.live.update(ctx, func(t *thread.Thread) error { t.Deleted = m.cfg.now(); return nil }); err != nil {
				return fmt.Errorf("discard %s: %w", t.Name, err)
			}
		}
		if err := l.purge(ctx); err != nil {
			return fmt.Errorf("discard %s: %w", t.Name, err)
		}
		return nil
	})
}

// SetUp prepares a thread's worktree again, as it is.
func (m *Lifecycle) SetUp(ctx context.Context, ref string) (thread.Status, error) {
	l, err := m.registry.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	t := l.live.thread()
	switch info, err := os.Stat(t.Worktree.Path); {
	case t.Worktree.Path == "" || m.cfg.Setup == nil:
		return thread.Status{}, thread.Kindf(thread.ErrRefused, "%s has no worktree to set up", t.Name)
	case err != nil || !info.IsDir():
		return thread.Status{}, thread.Hint(
			fmt.Errorf("set up %s: worktree %s: %w", t.Name, t.Worktree.Path, thread.ErrNotFound),
			"`orchestrator resume "+t.Name+"` recreates it and sets it up")
	}
	begins, err := l.beginSetup()
	if err != nil {
		return thread.Status{}, fmt.Errorf("set up %s: %w", t.Name, err)
	}
	if err := l.inTurn(ctx, func(t *thread.Thread) error { t.Setup = begins; return nil }); err != nil {
		l.endSetup()
		return thread.Status{}, fmt.Errorf("set up %s: %w", t.Name, err)
	}
	m.cfg.Setup.StopSetup(t)
	if err := l.runSetup(l.inTurn); err != nil {
		return thread.Status{}, fmt.Errorf("set up %s: %w", t.Name, err)
	}
	return l.live.current(), nil
}
