package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/share"
)

// Rewinds has the use cases that rewind threads.
type Rewinds struct {
	cfg      *Config
	notices  *notices
	merging  *exclusive
	registry *registry
}

// Rewind restores a thread's files, its conversation or both to one of its points. A safety checkpoint is written
// first: rewinding to that one undoes the rewind.
func (m *Rewinds) Rewind(ctx context.Context, r thread.RewindRequest) (thread.RewindReport, error) {
	l, err := m.registry.find(r.Thread)
	if err != nil {
		return thread.RewindReport{}, err
	}
	if !r.Files && !r.Conversation {
		return thread.RewindReport{}, thread.Hint(
			thread.Kindf(thread.ErrInvalid, "rewind %s: nothing selected", l.live.thread().Name),
			"choose files, conversation or both")
	}
	if err := m.merging.free(l.live.id); err != nil {
		return thread.RewindReport{}, fmt.Errorf("rewind %s: %w", l.live.thread().Name, err)
	}
	var report thread.RewindReport
	err = l.live.do(ctx, func(ctx context.Context) error {
		var err error
		report, err = l.rewind(ctx, r)
		if err != nil {
			return fmt.Errorf("rewind %s: %w", l.live.thread().Name, err)
		}
		return nil
	})
	return report, err
}

// repairRewind completes a rewind that was stored, and reports the safety checkpoint of one that was not.
func (m *Rewinds) repairRewind(ctx context.Context, i thread.Intent) error {
	var d rewindIntent
	if err := json.Unmarshal(i.Data, &d); err != nil {
		return fmt.Errorf("read the intent: %w", err)
	}
	l, err := m.registry.certain(ctx, i.Thread)
	if l == nil {
		return err
	}
	name := l.live.thread().Name
	c, err := m.cfg.Store.Checkpoint(ctx, d.Rewind)
	switch {
	case errors.Is(err, thread.ErrNotFound):
		m.notices.post(i.Thread, thread.LevelWarn, "a rewind of %s was interrupted: "+
			"its conversation is unchanged, its files may be rewound; rewind it again, or restore checkpoint %s to undo it",
			name, d.Safety)
		return nil
	case err != nil:
		return err
	}
	if d.Conversation && l.live.thread().Head == d.Rewind {
		if err := l.asAt(ctx, c); err != nil {
			return err
		}
	}
	m.notices.post(i.Thread, thread.LevelInfo, "a rewind of %s was completed after a crash; restore checkpoint %s to undo it",
		name, d.Safety)
	return nil
}

// rewind is the step of Rewind.
func (l *run) rewind(ctx context.Context, r thread.RewindRequest) (thread.RewindReport, error) {
	if err := l.idle(ctx); err != nil {
		return thread.RewindReport{}, err
	}
	if r.Files {
		if err := bringBack(ctx, l); err != nil {
			return thread.RewindReport{}, err
		}
	}
	to, snap, err := l.rewindTarget(ctx, r)
	if err != nil {
		return thread.RewindReport{}, err
	}
	running := l.live.running() != nil
	if running && r.Conversation {
		if err := l.stop(ctx, "stopped for a rewind"); err != nil {
			return thread.RewindReport{}, err
		}
	}
	safety, err := l.recorder.Safety(ctx, fmt.Sprintf("before the rewind to turn %d", to.Turn), r.Files)
	if err != nil {
		return thread.RewindReport{}, err
	}
	rewind := l.rewindCheckpoint(r, to, safety, snap)
	intent, err := l.intents.begin(ctx, intentRewind, l.live.id, rewindIntent{
		Safety: safety.ID, To: to.ID, Rewind: rewind.ID, Conversation: r.Conversation,
	})
	if err != nil {
		return thread.RewindReport{}, err
	}
	failpoint.Hit("thread.rewind.intended")
	var left []string
	var skips []thread.Skip
	if r.Files {
		if left, skips, err = l.restore(ctx, to, *snap, safety, &rewind); err != nil {
			err = fmt.Errorf("restore the files: %w", err)
			return thread.RewindReport{Safety: safety.ID}, errors.Join(
				thread.Hint(err, "their previous state is checkpoint "+string(safety.ID)), l.intents.settle(ctx, intent))
		}
	}
	failpoint.Hit("thread.rewind.restored")
	if err := l.setBack(ctx, rewind, r.Conversation); err != nil {
		return thread.RewindReport{Safety: safety.ID}, err
	}
	if err := l.intents.settle(ctx, intent); err != nil {
		return thread.RewindReport{Safety: safety.ID}, err
	}
	report := thread.RewindReport{Safety: safety.ID, Turn: to.Turn, Message: rewind.Note, Left: left}
	if r.Files {
		report.LeftOut = l.notices.leftOut(ctx, thread.OpRewind, l.live.id, l.live.thread().Dir, "")
		report.LeftOut = append(report.LeftOut, l.notices.skipped(thread.OpRewind, l.live.id, l.cfg.rootOf(l.live.thread()), skips, report.LeftOut)...)
	}
	if len(left) > 0 {
		report.Message += fmt.Sprintf("; kept %s that other threads in this folder may have written",
			plaintext.Count(len(left), "file"))
	}
	if r.Files && l.cfg.Differ != nil && safety.Snapshot != nil {
		report.Files, err = l.cfg.Differ.Diff(ctx, l.live.thread().Dir, safety.Snapshot.Commit, rewind.Snapshot.Commit)
		if err != nil {
			l.cfg.Log.Warn("compare the files of a rewind", "thread", string(l.live.id), "err", err)
		}
	}
	if running && r.Conversation {
		if err := l.start(ctx, launchRequest{}); err != nil {
			return report, fmt.Errorf("the rewind is complete, but its agent did not restart: %w", err)
		}
	}
	return report, nil
}

// restore restores the files of a snapshot. In a folder that other threads use too it restores only what this thread
// alone wrote, and returns what it left; the rewind then keeps the resulting files. skips are the files that no snapshot
// has, or that could not be replaced.
func (l *run) restore(
	ctx context.Context, to thread.Checkpoint, snap thread.Snapshot, safety thread.Checkpoint, rewind *thread.Checkpoint,
) (left []string, skips []thread.Skip, err error) {
	trees, dir := l.cfg.Worktrees, l.live.thread().Dir
	own, left, shared, err := l.ownFiles(ctx, to, snap, *safety.Snapshot)
	if err != nil {
		return nil, nil, err
	}
	if !shared {
		before, err := trees.Restore(ctx, l.live.id, dir, snap)
		return nil, slices.Concat(snap.Skipped, before.Skipped), err
	}
	before, err := trees.RestoreOnly(ctx, l.live.id, dir, snap, own)
	if err != nil {
		return nil, nil, err
	}
	after, err := trees.Take(ctx, l.live.id, dir, &snap)
	if err != nil {
		return nil, nil, err
	}
	rewind.Snapshot = &after
	return left, slices.Concat(snap.Skipped, before.Skipped), nil
}

// ownFiles divides the files of a shared folder that changed since a checkpoint into those that only this thread can
// have written, and those that others may have written. shared is false if no other thread uses the folder: then all
// files are its own. now is the current snapshot.
func (l *run) ownFiles(
	ctx context.Context, to thread.Checkpoint, target, now thread.Snapshot,
) (own, others []string, shared bool, err error) {
	t := l.live.thread()
	history := make(map[thread.ID][]thread.Checkpoint)
	together, err := l.index.together(t)
	if err != nil {
		return nil, nil, false, err
	}
	for _, o := range together {
		list, err := l.past.Since(ctx, o.ID, to)
		if err != nil {
			return nil, nil, false, err
		}
		shared = shared || len(list) > 0 || o.InUse()
		history[o.ID] = list
	}
	if !shared {
		return nil, nil, false, nil
	}
	if l.cfg.Differ == nil {
		return nil, nil, true, fmt.Errorf("compare the files: %w", thread.ErrUnsupported)
	}
	if history[l.live.id], err = l.past.Since(ctx, l.live.id, to); err != nil {
		return nil, nil, true, err
	}
	var steps []share.Step
	from, since := target, to.Created
	for _, c := range kept(history) {
		step := share.Step{Alone: l.alone(c.Thread, history, since, c.Created)}
		if c.Kind != thread.KindSafety { // that contains what anybody wrote before it
			step.Thread = string(c.Thread)
		}
		if step.Paths, err = l.past.Changed(ctx, t.Dir, from, *c.Snapshot); err != nil {
			return nil, nil, true, err
		}
		steps = append(steps, step)
		from, since = *c.Snapshot, c.Created
	}
	last := share.Step{}
	if last.Paths, err = l.past.Changed(ctx, t.Dir, from, now); err != nil {
		return nil, nil, true, err
	}
	own, others = share.Own(string(l.live.id), append(steps, last))
	return own, others, true, nil
}

// alone reports whether no other thread was in the middle of a turn between two times. A turn writes only after its
// first response.
func (l *run) alone(id thread.ID, history map[thread.ID][]thread.Checkpoint, from, until time.Time) bool {
	for other, list := range history {
		if other == id {
			continue
		}
		ended := map[int]time.Time{}
		for _, c := range list {
			if c.Kind == thread.KindTurn {
				ended[c.Turn] = c.Created
			}
		}
		for _, c := range list {
			if c.Kind != thread.KindResponse || !c.Created.Before(until) {
				continue
			}
			if end, over := ended[c.Turn]; !over || end.After(from) {
				return false
			}
		}
	}
	return true
}

// kept returns the checkpoints that have files, oldest first.
func kept(history map[thread.ID][]thread.Checkpoint) []thread.Checkpoint {
	var all []thread.Checkpoint
	for _, list := range history {
		for _, c := range list {
			if c.Snapshot != nil && c.Kind != thread.KindResponse {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b thread.Checkpoint) int { return a.Created.Compare(b.Created) })
	return all
}

// rewindTarget finds the checkpoint to rewind to and its files.
func (l *run) rewindTarget(ctx context.Context, r thread.RewindRequest) (thread.Checkpoint, *thread.Snapshot, error) {
	l.recorder.Settle(ctx)
	to, err := l.past.Point(ctx, l.live.thread(), r.At)
	if err != nil {
		return to, nil, err
	}
	if to.ID == "" {
		return to, nil, fmt.Errorf("no turns yet: %w", thread.ErrNotFound)
	}
	if r.Conversation && !to.Whole() {
		return to, nil, thread.Hint(
			thread.Kindf(thread.ErrInvalid, "checkpoint %s is in the middle of turn %d", to.ID, to.Turn),
			"choose a whole turn")
	}
	if !r.Files {
		return to, nil, nil
	}
	if l.cfg.Worktrees == nil {
		return to, nil, fmt.Errorf("files: %w", thread.ErrNoRepository)
	}
	snap, err := l.past.SnapshotAt(ctx, to.ID)
	if err != nil {
		return to, nil, err
	}
	if snap == nil {
		return to, nil, thread.Hint(fmt.Errorf("files of turn %d: %w", to.Turn, thread.ErrNotFound),
			"it has no snapshot; rewind the conversation only")
	}
	if to.Snapshot == nil {
		l.notices.post(l.live.id, thread.LevelWarn,
			"turn %d has no snapshot; restoring the files of the snapshot before it", to.Turn)
	}
	return to, snap, nil
}

// rewindCheckpoint prepares the checkpoint that performs a rewind. If the conversation is rewound its parent is the
// target; for the files alone it is the safety checkpoint.
func (l *run) rewindCheckpoint(
	r thread.RewindRequest, to, safety thread.Checkpoint, snap *thread.Snapshot,
) thread.Checkpoint {
	c := to
	what := "the conversation"
	if !r.Conversation {
		c, what = safety, "the files"
	} else if r.Files {
		what = "files and conversation"
	}
	c.Parent, c.ID = c.ID, thread.NewID[thread.CheckpointID]()
	c.Thread, c.Kind, c.Created, c.Seq = l.live.id, thread.KindRewind, l.cfg.now(), 0
	c.Base = l.live.thread().Base.Recorded() // which a rewind leaves as it is
	c.Usage, c.Prompt, c.Answer, c.Stop = thread.Usage{}, "", "", ""
	c.Gauge.CostUSD, c.Gauge.SavedUSD = safety.Gauge.CostUSD, safety.Gauge.SavedUSD // money is not refunded
	c.Note = fmt.Sprintf("%s rewound to turn %d", what, to.Turn)
	c.Snapshot = safety.Snapshot
	if r.Files {
		c.Snapshot = snap
	}
	if r.Conversation {
		c.Session = "" // its session is written at the next start
	}
	return c
}

// setBack stores the rewind and forgets what is known of the conversation before it.
func (l *run) setBack(ctx context.Context, c thread.Checkpoint, conversation bool) error {
	if _, err := l.cfg.Store.PutCheckpoint(ctx, c, thread.Delta{Keep: c.Items}); err != nil {
		return fmt.Errorf("store the rewind: %w", err)
	}
	failpoint.Hit("thread.rewind.stored")
	l.recorder.Forget()
	if conversation {
		if err := l.asAt(ctx, c); err != nil {
			return fmt.Errorf("forget the old session: %w", err)
		}
	}
	if err := l.live.reread(ctx); err != nil {
		return err
	}
	stored, err := l.cfg.Store.Checkpoint(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("read the rewind: %w", err)
	}
	l.bus.Publish(thread.Event{At: l.cfg.now(), Kind: thread.EventCheckpoint, ThreadID: l.live.id, Checkpoint: &stored})
	return nil
}

// asAt makes of a thread's row what a rewind of its conversation leaves of it: no session, and the MCP servers of then.
func (l *run) asAt(ctx context.Context, c thread.Checkpoint) error {
	err := l.live.update(ctx, func(t *thread.Thread) error {
		t.Session = ""
		t.MCP = t.MCP.At(c.MCP, fmt.Sprintf("on at turn %d", c.Turn))
		return nil
	})
	if err == nil && l.cfg.MCP != nil {
		l.cfg.MCP.Restored(l.live.id)
	}
	return err
}

// rewindIntent is stored before a rewind changes anything.
type rewindIntent struct {
	Safety       thread.CheckpointID `json:"safety"`
	To           thread.CheckpointID `json:"to"`
	Rewind       thread.CheckpointID `json:"rewind"` // stored last
	Conversation bool                `json:"conversation"`
}
