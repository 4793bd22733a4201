package thread

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread/failpoint"
)

// Import is a thread that comes from an archive.
type Import struct {
	// From is the thread as it was exported. Only what it was about comes over: its name, label and
	// agent. Arguments, environment and folder are this machine's to set.
	From Thread
	// Each hands out its checkpoints with what they add, oldest first.
	Each func(put func(Checkpoint, Delta) error) error
	// Files takes over the snapshots with the given commits for the new thread; nil when there are none.
	Files func(ctx context.Context, id ID, commits []string) error
}

// Import stores a thread from an archive under new ids, whole or not at all. Its agent is not
// started; the first start writes the native conversation from the stored pieces.
func (m *Manager) Import(ctx context.Context, in Import) (Status, error) {
	if _, err := m.cfg.Agents.Agent(in.From.Agent); err != nil {
		return Status{}, fmt.Errorf("import %s: %w", in.From.Name, err)
	}
	now := m.now()
	t := Thread{
		ID: NewID[ID](), Label: excerptOf(in.From.Label, 200), Agent: in.From.Agent,
		Dir: m.cfg.Project, Created: now, Updated: now, Seen: true,
		Deleted: now, // until it is whole
	}
	intent, err := m.intend(ctx, intentImport, t.ID, nil)
	if err != nil {
		return Status{}, err
	}
	failpoint.Hit("thread.import.intended")
	t, err = m.importInto(ctx, t, in)
	if err != nil {
		err = errors.Join(err, m.takeBackFork(context.WithoutCancel(ctx), t.ID), m.settled(context.WithoutCancel(ctx), intent))
		return Status{}, fmt.Errorf("import %s: %w", in.From.Name, err)
	}
	if err := m.settled(ctx, intent); err != nil {
		return Status{}, err
	}
	m.mu.Lock()
	l := m.add(t)
	m.show(l)
	m.mu.Unlock()
	return m.statusOf(l), nil
}

// importInto stores everything of a thread that nobody sees yet, then shows it.
func (m *Manager) importInto(ctx context.Context, t Thread, in Import) (Thread, error) {
	t, err := m.hidden(ctx, t, slugOf(in.From.Name))
	if err != nil {
		return t, err
	}
	failpoint.Hit("thread.import.created")
	ids := map[CheckpointID]CheckpointID{}
	var commits []string
	err = in.Each(func(c Checkpoint, d Delta) error {
		old := c.ID
		c.ID, c.Thread, c.Parent, c.Seq = NewID[CheckpointID](), t.ID, ids[c.Parent], 0
		ids[old] = c.ID
		if c.Snapshot != nil {
			commits = append(commits, c.Snapshot.Commit)
		}
		if _, err := m.cfg.Store.PutCheckpoint(ctx, c, d); err != nil {
			return fmt.Errorf("store checkpoint of turn %d: %w", c.Turn, err)
		}
		failpoint.Hit("thread.import.checkpoint")
		return nil
	})
	if err != nil {
		return t, err
	}
	if in.Files != nil && len(commits) > 0 {
		if err := in.Files(ctx, t.ID, commits); err != nil {
			return t, err
		}
	}
	failpoint.Hit("thread.import.files")
	t, err = m.cfg.Store.UpdateThread(ctx, t.ID, func(t *Thread) error {
		t.Deleted = time.Time{}
		t.Session = "" // another machine's: the first start makes its own
		return nil
	})
	failpoint.Hit("thread.import.shown")
	return t, err
}

// hidden stores a thread that is listed nowhere yet.
func (m *Manager) hidden(ctx context.Context, t Thread, label string) (Thread, error) {
	for {
		t.Name = NewName(label)
		err := m.cfg.Store.CreateThread(ctx, t)
		if !errors.Is(err, ErrNameTaken) {
			return t, err
		}
	}
}

// repairImport takes an import back that was cut off; the archive has everything.
func (m *Manager) repairImport(ctx context.Context, i Intent) error {
	t, err := m.cfg.Store.Thread(ctx, i.Thread)
	switch {
	case errors.Is(err, ErrNotFound):
		m.notice("", LevelInfo, "an import was cut off before it began; nothing is left of it")
		return m.forgetFiles(ctx, i.Thread)
	case err != nil:
		return err
	case t.Deleted.IsZero():
		return nil // only the intent was left
	}
	m.notice("", LevelWarn, "an import was cut off and is taken back; import the archive again")
	return m.takeBackFork(ctx, i.Thread)
}
