package recording

import (
	"context"
	"fmt"
	"hash/maphash"

	"orchestrator/thread"
)

// Load reads the thread's newest checkpoint from the store, once.
func (r *Recorder) Load(ctx context.Context) {
	if r.loaded {
		return
	}
	r.loaded = true
	r.seed = maphash.MakeSeed()
	t := r.live.Thread()
	r.head, r.turn, r.phase, r.gauge = t.Head, t.Turn, phaseEnded, t.Gauge
	if r.session == "" {
		r.session = t.Session
	}
	if t.Head == "" {
		r.restack(nil)
		return
	}
	c, err := r.cfg.Store.Checkpoint(ctx, t.Head)
	if err != nil {
		r.notice(thread.LevelError, "the newest checkpoint of %s cannot be read: %v", t.DisplayName(), err)
		r.restack(nil)
		return
	}
	r.turn, r.phase, r.prompt, r.said = c.Turn, phaseOf(c.Whole()), thread.Excerpt(c.Prompt), c.Prompt
	r.asked, r.first = r.prompts.Of(c), c.First
	items, err := r.cfg.Store.Conversation(ctx, t.Head)
	if err != nil {
		// The next answer brings the whole conversation again: only space is lost.
		r.notice(thread.LevelError, "the stored conversation of %s is damaged: %v", t.DisplayName(), err)
	}
	r.hashes, r.spoken = r.hash(items), r.words(items)
	if r.snapshot, err = r.cfg.Past.SnapshotAt(ctx, t.Head); err != nil {
		r.cfg.Log.Warn("read the newest snapshot", "thread", string(r.id), "err", err)
	}
	r.restack(items)
}

// Head returns the newest checkpoint that was made, durable or not.
func (r *Recorder) Head(ctx context.Context) thread.CheckpointID {
	r.Load(ctx)
	return r.head
}

// restack replays what an earlier run left in the spool, and the store still refuses, on top of the stored
// conversation, so that the next answer continues from there.
func (r *Recorder) restack(items []thread.Item) {
	if len(r.pending) == 0 {
		return
	}
	for _, p := range r.pending {
		delta, err := r.deltaOf(p)
		if err != nil {
			r.cfg.Log.Error("read the spool", "thread", string(r.id), "err", fmt.Errorf("restack: %w", err))
			continue // flush gives it up with a notice
		}
		if delta.Keep > len(items) { // of a conversation that cannot be read: the next answer brings it again
			items = nil
		} else {
			items = append(items[:delta.Keep:delta.Keep], delta.Items...)
		}
		r.head, r.turn, r.phase, r.prompt, r.gauge = p.c.ID, p.c.Turn, phaseOf(p.c.Whole()), p.c.Prompt, p.c.Gauge
		r.said, r.first = p.c.Prompt, p.c.First
		if p.c.Snapshot != nil {
			r.snapshot = p.c.Snapshot
		}
	}
	r.hashes, r.spoken = r.hash(items), r.words(items)
}
