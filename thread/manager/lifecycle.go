package manager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/private"
	"orchestrator/thread/secret"
)

// Switch asks the clients to show a thread.
func (m *Manager) Switch(_ context.Context, ref string) (thread.Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	m.bus.Publish(thread.Event{At: m.now(), Kind: thread.EventSwitch, ThreadID: l.id})
	return m.statusOf(l), nil
}

// Seen notes that a person has looked at a thread.
func (m *Manager) Seen(ctx context.Context, ref string) error {
	return m.change(ctx, ref, "mark as seen", func(t *thread.Thread) bool {
		was := t.Seen
		t.Seen = true
		return !was
	})
}

// Pin pins or unpins a thread. A pinned thread is listed first and never cleaned up.
func (m *Manager) Pin(ctx context.Context, ref string, pinned bool) error {
	return m.change(ctx, ref, "pin", func(t *thread.Thread) bool {
		was := t.Pinned
		t.Pinned = pinned
		return was != pinned
	})
}

// SetGrants changes what a thread's agent may ask of the server; next makes the new grants of the old ones.
func (m *Manager) SetGrants(ctx context.Context, ref string, next func([]thread.Grant) []thread.Grant) error {
	return m.change(ctx, ref, "set the grants of", func(t *thread.Thread) bool {
		was := t.Grants
		t.Grants = next(was)
		return !slices.Equal(was, t.Grants)
	})
}

// Abandon records that a thread came to nothing, and why.
func (m *Manager) Abandon(ctx context.Context, ref, reason string) error {
	return m.change(ctx, ref, "abandon", func(t *thread.Thread) bool {
		t.Outcome = thread.Outcome{Kind: thread.OutcomeAbandoned, Reason: plaintext.Cut(strings.TrimSpace(secret.Redact(reason)), 500), At: m.now()}
		return true
	})
}

// change is a use case that changes a thread's row and nothing else; nothing is written when change
// returns false for the thread as it is.
func (m *Manager) change(ctx context.Context, ref, verb string, change func(*thread.Thread) bool) error {
	l, err := m.find(ref)
	if err != nil {
		return err
	}
	return l.do(ctx, func(ctx context.Context) error {
		if t := l.thread(); !change(&t) {
			return nil
		}
		err := l.update(ctx, func(t *thread.Thread) error { change(t); return nil })
		if err != nil {
			return fmt.Errorf("%s %s: %w", verb, l.thread().Name, err)
		}
		return nil
	})
}

// Rename gives a thread another name: the slug changes, the four digits stay where they can.
func (m *Manager) Rename(ctx context.Context, ref, name string) (thread.Status, error) {
	l, err := m.find(ref)
	if err != nil {
		return thread.Status{}, err
	}
	name = secret.Redact(name)
	title := thread.Titled(name)
	if title == "" && thread.Slug(name) == thread.Slug("") && !strings.EqualFold(strings.TrimSpace(name), thread.Slug("")) {
		return thread.Status{}, thread.Hint(fmt.Errorf("name %q has no letter or digit: %w", name, thread.ErrInvalid), "use letters and digits, in any script")
	}
	err = l.do(ctx, func(ctx context.Context) error {
		old := l.thread().Name
		next := renamed(old, name)
		if strings.EqualFold(strings.TrimSpace(name), next) {
			title = "" // its own name
		}
		for try := 0; ; try++ {
			if next == old && title == l.thread().Title {
				return nil
			}
			err := l.update(ctx, func(t *thread.Thread) error { t.Name, t.Title = next, title; return nil })
			if err == nil {
				return nil
			}
			if !errors.Is(err, thread.ErrNameTaken) || try == 100 {
				return fmt.Errorf("rename %s: %w", old, err)
			}
			next = thread.NewName(name)
		}
	})
	return m.statusOf(l), err
}

// renamed returns the new name for an old one: its digits, behind the new slug.
func renamed(old, name string) string {
	digits := old[max(0, len(old)-5):]
	return thread.Slug(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), digits)) + digits
}

// Archive stops a thread's agent and puts the thread away. Its worktree stays.
func (m *Manager) Archive(ctx context.Context, ref string) error {
	l, err := m.find(ref)
	if err != nil {
		return err
	}
	return l.do(ctx, func(ctx context.Context) error { return l.archive(ctx) })
}

func (l *line) archive(ctx context.Context) error {
	if err := l.stop(ctx, "archived"); err != nil {
		return err
	}
	failpoint.Hit("thread.archive.stopped")
	if !l.thread().Archived.IsZero() {
		return nil
	}
	err := l.update(ctx, func(t *thread.Thread) error {
		t.Archived, t.Interrupted = l.m.now(), false
		return nil
	})
	if err != nil {
		return fmt.Errorf("archive %s: %w", l.thread().Name, err)
	}
	return nil
}

// Unarchive brings an archived thread back.
func (m *Manager) Unarchive(ctx context.Context, ref string) error {
	var none thread.Thread
	return m.change(ctx, ref, "restore", func(t *thread.Thread) bool {
		was := t.Archived
		t.Archived = none.Archived
		return !was.IsZero()
	})
}

// Delete stops a thread's agent and hides the thread. Undelete brings it back until it is purged;
// until then nothing of it is removed, its worktree included.
func (m *Manager) Delete(ctx context.Context, ref string) error {
	l, err := m.find(ref)
	if err != nil {
		return err
	}
	return l.do(ctx, func(ctx context.Context) error {
		if err := l.stop(ctx, "deleted"); err != nil {
			return err
		}
		failpoint.Hit("thread.delete.stopped")
		err := l.update(ctx, func(t *thread.Thread) error { t.Deleted = m.now(); return nil })
		if err != nil {
			return fmt.Errorf("delete %s: %w", l.thread().Name, err)
		}
		if m.Gateway != nil {
			m.Gateway.Unroute(l.id)
		}
		return nil
	})
}

// Undelete brings a deleted thread back.
func (m *Manager) Undelete(ctx context.Context, ref string) error {
	l, err := m.findDeleted(ref)
	if err != nil {
		return err
	}
	return l.do(ctx, func(ctx context.Context) error {
		var none thread.Thread
		if err := l.update(ctx, func(t *thread.Thread) error { t.Deleted = none.Deleted; return nil }); err != nil {
			return fmt.Errorf("bring %s back: %w", l.thread().Name, err)
		}
		return nil
	})
}

// purge is the step that removes a deleted thread for good. Every step can be done again.
func (l *line) purge(ctx context.Context) error {
	m, t := l.m, l.thread()
	if t.Deleted.IsZero() {
		return nil // brought back meanwhile
	}
	intent, err := m.intend(ctx, intentDelete, l.id, struct{}{})
	if err != nil {
		return err
	}
	failpoint.Hit("thread.delete.intended")
	if err := m.removeWorktree(ctx, l); err != nil {
		return errors.Join(err, m.settled(ctx, intent))
	}
	failpoint.Hit("thread.delete.removed")
	if err := m.cfg.Store.PurgeThread(ctx, l.id); err != nil {
		return fmt.Errorf("remove the thread: %w", err)
	}
	failpoint.Hit("thread.delete.purged")
	m.mu.Lock()
	m.drop(l)
	m.mu.Unlock()
	if err := removeStateDir(m.cfg.StateDir, l.id); err != nil {
		m.cfg.Log.Warn("remove the thread's folder", "thread", string(l.id), "err", err)
	}
	return m.settled(ctx, intent)
}

// removeStateDir removes a purged thread's folder, reached through no link and nowhere else.
func removeStateDir(state string, id thread.ID) error {
	all, err := private.Open(state, "threads")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer all.Close()
	return all.RemoveAll(string(id))
}

// removeWorktree saves what is uncommitted in a thread's worktree and removes it. One that is gone already, by a
// finish or by an earlier try, is no error.
func (m *Manager) removeWorktree(ctx context.Context, l *line) error {
	t := l.thread()
	if t.Worktree.Path == "" || m.cfg.Worktrees == nil {
		return nil
	}
	if others := m.besides(t); len(others) > 0 {
		return fmt.Errorf("remove the worktree %s: %s works in it too: %w", t.Worktree.Path, strings.Join(others, ", "), thread.ErrRefused)
	}
	m.clear(t)
	saved, err := m.cfg.Worktrees.Remove(ctx, l.id, t.Worktree)
	if errors.Is(err, thread.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the worktree: %w", err)
	}
	if saved.Commit != "" {
		m.notice(l.id, thread.LevelInfo, "%s: its worktree is removed; its files are kept in commit %s", t.DisplayName(), saved.Commit)
	}
	return nil
}

// Discard removes one archived or deleted thread for good: its uncommitted files are saved under our refs before
// its worktree goes. A thread that is neither is refused.
func (m *Manager) Discard(ctx context.Context, id thread.ID) error {
	l := m.line(id)
	if l == nil {
		return fmt.Errorf("discard thread %s: %w", id, thread.ErrNotFound)
	}
	return l.do(ctx, func(ctx context.Context) error {
		t := l.thread()
		if t.Deleted.IsZero() && t.Archived.IsZero() {
			return fmt.Errorf("discard %s: it is neither archived nor deleted: %w", t.Name, thread.ErrInvalid)
		}
		if t.Deleted.IsZero() {
			if err := l.update(ctx, func(t *thread.Thread) error { t.Deleted = m.now(); return nil }); err != nil {
				return fmt.Errorf("discard %s: %w", t.Name, err)
			}
		}
		if err := l.purge(ctx); err != nil {
			return fmt.Errorf("discard %s: %w", t.Name, err)
		}
		return nil
	})
}
