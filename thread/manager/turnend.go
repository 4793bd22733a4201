package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// endTurn writes the checkpoint of a turn, with the rest of the transcript and the files. For a thread without a
// gateway the rest of the transcript is left to the next poll, which counts it.
func (l *recorder) endTurn(ctx context.Context, last thread.Checkpoint, e arrival, stored func()) {
	r := &l.rec
	c := last
	c.ID, c.Parent, c.Kind, c.Note = thread.NewID[thread.CheckpointID](), last.ID, thread.KindTurn, ""
	// last may be the parent's: a fork may begin before its turn's own checkpoint is stored.
	c.Thread = l.id
	c.Created, c.Usage = l.now(), thread.Usage{} // the responses have counted it
	c.Seq, c.Gauge.CostUSD = 0, r.gauge.CostUSD
	asked := l.ends(c, e.why)
	delta := thread.Delta{Keep: last.Items, Prompts: asked}
	if !e.direct && !e.past {
		delta.Transcript = r.files.note(&l.liveThread, r.files.peek(ctx, &l.liveThread, r.session, plaintext.LastLine(e.Text),
			l.waitUntil(e.Exchange)))
	}
	if !e.past && (e.Ended.IsZero() || !e.came().Before(r.looked)) {
		// The files of turns that ended while the previous one was being recorded were already read, closer to their ends
		// than now.
		r.looked = time.Now() // monotonic: changing the clock does not affect it
		r.snapshot = l.snapshot(ctx, r.snapshot)
	}
	c.Snapshot = r.snapshot
	r.head, r.phase = c.ID, phaseEnded
	l.commit(ctx, put{c: c, delta: delta, prompts: asked, stored: stored})
}

// answerWait is how long an agent may take to write down the answer that ended its turn.
const answerWait = time.Second

// waitUntil returns how long to wait for an answer in its agent's transcript. If the next one has already arrived the
// agent has moved on: of a backlog only the last is waited for.
func (l *recorder) waitUntil(e thread.Exchange) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case e.Ended.IsZero():
		return time.Time{}
	case l.requests.Waiting():
		return e.Ended
	default:
		return e.Ended.Add(answerWait)
	}
}

// snapshot takes a snapshot of a thread's files; prev is the previous one. If that is not possible it returns nil and
// reports it, once.
func (l *recorder) snapshot(ctx context.Context, prev *thread.Snapshot) *thread.Snapshot {
	if l.cfg.Worktrees == nil {
		return nil
	}
	t := l.thread()
	s, err := l.cfg.Worktrees.Take(ctx, l.id, t.Dir, prev)
	switch {
	case errors.Is(err, thread.ErrNoRepository):
		return nil
	case err != nil:
		l.notice(l.id, thread.LevelWarn, "%s: no snapshot of turn %d: %v", t.DisplayName(), t.Turn, err)
		return nil
	}
	l.nameSkipped(s, prev)
	return &s
}

// nameSkipped reports the files that a snapshot left out, once for each.
func (l *recorder) nameSkipped(s thread.Snapshot, prev *thread.Snapshot) {
	known := map[thread.Skip]bool{}
	if prev != nil {
		for _, k := range prev.Skipped {
			known[k] = true
		}
	}
	var names []string
	for _, k := range s.Skipped {
		if !known[k] {
			names = append(names, fmt.Sprintf("%s (%s)", k.Path, k.Reason))
		}
	}
	if len(names) == 0 {
		return
	}
	const most = 5
	shown := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	l.notice(l.id, thread.LevelWarn, "%s: not included in snapshots, and left alone when files are restored: %s",
		l.thread().DisplayName(), shown)
}

// leave ends a turn that its agent was interrupted in, files included.
func (l *recorder) leave(ctx context.Context) {
	r := &l.rec
	if !r.open() || len(r.pending) > 0 {
		return
	}
	last, err := l.cfg.Store.Checkpoint(ctx, r.head)
	if err != nil || last.Kind != thread.KindResponse {
		return
	}
	last.Interrupted = true
	l.endTurn(ctx, last, arrival{}, nil)
	r.phase = phaseLeft
}

// abandon ends a turn that never ended and was followed by another one.
func (l *recorder) abandon(ctx context.Context) {
	r := &l.rec
	if !r.open() || len(r.pending) > 0 {
		return
	}
	last, err := l.cfg.Store.Checkpoint(ctx, r.head)
	if err != nil || last.Kind != thread.KindResponse || last.Thread != l.id {
		return
	}
	last.Interrupted = true
	l.endTurn(ctx, last, arrival{past: true, why: "another prompt followed before it was answered"}, nil)
}

// settle completes the record of the thread: what is pending is stored, and a turn that a crash interrupted between its
// answer and its checkpoint gets it. It reads the conversation only if needed: a start with many interrupted threads
// must stay fast.
func (l *recorder) settle(ctx context.Context) {
	r := &l.rec
	l.flush(ctx)
	head := r.head
	if !r.loaded {
		head = l.thread().Head
	}
	if head == "" || len(r.pending) > 0 {
		return
	}
	c, err := l.cfg.Store.Checkpoint(ctx, head)
	if err == nil && c.Kind == thread.KindResponse && c.Note == thread.NoteTurnEnded {
		l.load(ctx)
		l.endTurn(ctx, c, arrival{Exchange: thread.Exchange{Text: c.Answer}}, nil)
	}
}
