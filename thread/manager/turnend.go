package manager

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// endTurn writes the checkpoint of a turn, with the rest of the transcript and the files.
// Of a thread without gateway the rest of the transcript is left to the next poll, which counts it.
func (r *record) endTurn(ctx context.Context, l *line, last thread.Checkpoint, e arrival, stored func()) {
	c := last
	c.ID, c.Parent, c.Kind, c.Note = thread.NewID[thread.CheckpointID](), last.ID, thread.KindTurn, ""
	c.Thread = l.id                                // last may be the parent's: a fork begins where its turn's own checkpoint is still missing
	c.Created, c.Usage = l.m.now(), thread.Usage{} // the responses have counted it
	c.Seq, c.Gauge.CostUSD = 0, r.gauge.CostUSD
	asked := l.ends(r, c, e.why)
	delta := thread.Delta{Keep: last.Items, Prompts: asked}
	if !e.direct && !e.past {
		delta.Transcript = r.files.note(l, r.files.peek(ctx, l, r.session, plaintext.LastLine(e.Text), l.waitUntil(e.Exchange)))
	}
	if !e.past && (e.Ended.IsZero() || !e.came().Before(r.looked)) {
		// Of turns that ended while the one before was being recorded the files were looked at already, closer to
		// their ends than now.
		r.looked = time.Now() // a time of this process, which no setting of the clock changes
		r.snapshot = l.snapshot(ctx, r.snapshot)
	}
	c.Snapshot = r.snapshot
	r.head, r.ended = c.ID, true
	r.put(ctx, l, put{c: c, delta: delta, prompts: asked, stored: stored})
}

// answerWait is how long an agent may take to write down the answer that ended its turn.
const answerWait = time.Second

// waitUntil says how long to wait for an answer in its agent's transcript. When the next one has come already
// the agent has gone on: a backlog waits for none but its last.
func (l *line) waitUntil(e thread.Exchange) time.Time {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	switch {
	case e.Ended.IsZero():
		return time.Time{}
	case l.requests.Waiting():
		return e.Ended
	default:
		return e.Ended.Add(answerWait)
	}
}

// open reports whether a turn was begun and not ended.
func (r *record) open() bool { return r.loaded && r.head != "" && !r.ended }

// leave closes a turn that its agent was interrupted in, files and all, as what it is.
func (r *record) leave(ctx context.Context, l *line) {
	if !r.open() || len(r.pending) > 0 {
		return
	}
	last, err := l.m.cfg.Store.Checkpoint(ctx, r.head)
	if err != nil || last.Kind != thread.KindResponse {
		return
	}
	last.Interrupted = true
	r.endTurn(ctx, l, last, arrival{}, nil)
	r.left = true
}

// abandon closes a turn that never ended and that another one follows.
func (r *record) abandon(ctx context.Context, l *line) {
	if !r.open() || len(r.pending) > 0 {
		return
	}
	last, err := l.m.cfg.Store.Checkpoint(ctx, r.head)
	if err != nil || last.Kind != thread.KindResponse || last.Thread != l.id {
		return
	}
	last.Interrupted = true
	r.endTurn(ctx, l, last, arrival{past: true, why: "another prompt followed before it was answered"}, nil)
}
