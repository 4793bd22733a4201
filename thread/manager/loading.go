package manager

import (
	"context"
	"fmt"
	"hash/maphash"

	"orchestrator/thread"
)

// load reads what the store knows of the thread's head, once.
func (l *recorder) load(ctx context.Context) {
	r := &l.rec
	if r.loaded {
		return
	}
	r.loaded = true
	r.seed = maphash.MakeSeed()
	t := l.thread()
	r.head, r.turn, r.phase, r.gauge = t.Head, t.Turn, phaseEnded, t.Gauge
	if r.session == "" {
		r.session = t.Session
	}
	if t.Head == "" {
		l.restack(nil)
		return
	}
	c, err := l.cfg.Store.Checkpoint(ctx, t.Head)
	if err != nil {
		l.notice(l.id, thread.LevelError, "the newest checkpoint of %s cannot be read: %v", t.DisplayName(), err)
		return
	}
	r.turn, r.phase, r.prompt, r.said = c.Turn, phaseOf(c.Whole()), thread.Excerpt(c.Prompt), c.Prompt
	r.asked = l.askedIn(c)
	items, err := l.cfg.Store.Conversation(ctx, t.Head)
	if err != nil {
		// The next answer brings the whole conversation again: nothing is lost but space.
		l.notice(l.id, thread.LevelError, "the stored conversation of %s is damaged: %v", t.DisplayName(), err)
	}
	r.hashes, r.spoken = r.hash(items), l.spoken(items)
	if r.snapshot, err = l.past.SnapshotAt(ctx, t.Head); err != nil {
		l.cfg.Log.Warn("read the newest snapshot", "thread", string(l.id), "err", err)
	}
	l.restack(items)
}

// restack puts what an earlier run left in the spool, and the store still refuses, upon the conversation as it is
// stored, so that the next answer continues from there.
func (l *recorder) restack(items []thread.Item) {
	r := &l.rec
	if len(r.pending) == 0 {
		return
	}
	for _, p := range r.pending {
		delta, err := l.deltaOf(p)
		if err != nil {
			l.cfg.Log.Error("read the spool", "thread", string(l.id), "err", fmt.Errorf("restack: %w", err))
			continue // flush gives it up with words
		}
		keep := min(delta.Keep, len(items))
		items = append(items[:keep:keep], delta.Items...)
		r.head, r.turn, r.phase, r.prompt, r.gauge = p.c.ID, p.c.Turn, phaseOf(p.c.Whole()), p.c.Prompt, p.c.Gauge
		r.said = p.c.Prompt
		if p.c.Snapshot != nil {
			r.snapshot = p.c.Snapshot
		}
	}
	r.hashes, r.spoken = r.hash(items), l.spoken(items)
}

// adopt follows the agent into another session, unless that belongs to another thread.
func (l *recorder) adopt(ctx context.Context, session string) {
	r := &l.rec
	l.load(ctx)
	if session == "" || session == r.session {
		return
	}
	if l.sessionTaken(l.id, session) {
		l.notice(l.id, thread.LevelWarn, "%s: its agent opened a session that belongs to another thread; it is not taken over", l.thread().DisplayName())
		return
	}
	if r.session != "" {
		r.rewritten() // other files from here on
	}
	r.session = session
	if err := l.update(ctx, func(t *thread.Thread) error { t.Session = session; return nil }); err != nil {
		l.cfg.Log.Warn("store the session", "thread", string(l.id), "err", err)
	}
}
