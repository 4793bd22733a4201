package recording

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// endTurn writes the checkpoint of a turn, with the rest of the transcript and the files; then is reported once it
// is durable. For a thread without a gateway the rest of the transcript is left to the next poll, which counts it.
func (r *Recorder) endTurn(ctx context.Context, last thread.Checkpoint, e arrival, then *Answered) {
	c := last
	c.ID, c.Parent, c.Kind, c.Note = thread.NewID[thread.CheckpointID](), last.ID, thread.KindTurn, ""
	// last may be the parent's: a fork may begin before its turn's own checkpoint is stored.
	c.Thread = r.id
	c.Created, c.Usage = r.now(), thread.Usage{} // the responses have counted it
	c.Seq, c.Gauge.CostUSD = 0, r.gauge.CostUSD
	asked := r.prompts.Ended(r.asked, c, e.why)
	delta := thread.Delta{Keep: last.Items, Prompts: asked}
	if !e.direct && !e.past {
		delta.Transcript = r.note(r.await(ctx, e.Exchange))
	}
	if !e.past && (e.Ended.IsZero() || !e.came().Before(r.looked)) {
		// The files of turns that ended while the previous one was being recorded were already read, closer to their ends
		// than now.
		r.looked = time.Now() // monotonic: changing the clock does not affect it
		r.snapshot = r.keepFiles(ctx, r.snapshot)
	}
	c.Snapshot = r.snapshot
	r.head, r.phase = c.ID, phaseEnded
	r.commit(ctx, put{c: c, delta: delta, prompts: asked, answered: then})
}

// answerWait is how long an agent may take to write down the answer that ended its turn.
const answerWait = time.Second

// await returns what was added to the agent's native files, when they contain the answer that ended its turn. Once the
// next answer has arrived the agent has moved on, and nothing is waited for: the next one is held until it is recorded,
// and the thread's requests wait while too much is held.
func (r *Recorder) await(ctx context.Context, e thread.Exchange) []thread.Chunk {
	by := time.Time{}
	if !e.Ended.IsZero() {
		by = e.Ended.Add(answerWait)
	}
	newer := r.live.Newer()
	select {
	case <-newer:
		by = e.Ended
	default:
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-newer:
			stop()
		case <-ctx.Done():
		}
	}()
	return r.peek(ctx, plaintext.LastLine(e.Text), by)
}

// keepFiles takes a snapshot of a thread's files; prev is the previous one. If that is not possible it returns nil and
// reports it, once.
func (r *Recorder) keepFiles(ctx context.Context, prev *thread.Snapshot) *thread.Snapshot {
	if r.cfg.Files == nil {
		return nil
	}
	t := r.live.Thread()
	s, err := r.cfg.Files.Take(ctx, r.id, t.Dir, prev)
	switch {
	case errors.Is(err, thread.ErrNoRepository):
		return nil
	case err != nil:
		r.notice(thread.LevelWarn, "%s: no snapshot of turn %d: %v", t.DisplayName(), t.Turn, err)
		return nil
	}
	r.nameSkipped(s, prev)
	return &s
}

// nameSkipped reports the files that a snapshot left out, once for each.
func (r *Recorder) nameSkipped(s thread.Snapshot, prev *thread.Snapshot) {
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
	r.notice(thread.LevelWarn, "%s: not included in snapshots, and left alone when files are restored: %s", r.name(),
		shown)
}

// Leave ends a turn that its agent was interrupted in, files included.
func (r *Recorder) Leave(ctx context.Context) {
	if !r.Open() || len(r.pending) > 0 {
		return
	}
	last, err := r.cfg.Store.Checkpoint(ctx, r.head)
	if err != nil || last.Kind != thread.KindResponse {
		return
	}
	last.Interrupted = true
	r.endTurn(ctx, last, arrival{}, nil)
	r.phase = phaseLeft
}

// abandon ends a turn that never ended and was followed by another one.
func (r *Recorder) abandon(ctx context.Context) {
	if !r.Open() || len(r.pending) > 0 {
		return
	}
	last, err := r.cfg.Store.Checkpoint(ctx, r.head)
	if err != nil || last.Kind != thread.KindResponse || last.Thread != r.id {
		return
	}
	last.Interrupted = true
	r.endTurn(ctx, last, arrival{past: true, why: "another prompt followed before it was answered"}, nil)
}

// Settle completes the record of the thread: what is pending is stored, and a turn that a crash interrupted between its
// answer and its checkpoint gets it. It reads the conversation only if needed: a start with many interrupted threads
// must stay fast.
func (r *Recorder) Settle(ctx context.Context) {
	r.Flush(ctx)
	head := r.head
	if !r.loaded {
		head = r.live.Thread().Head
	}
	if head == "" || len(r.pending) > 0 {
		return
	}
	c, err := r.cfg.Store.Checkpoint(ctx, head)
	if err == nil && c.Kind == thread.KindResponse && c.Note == thread.NoteTurnEnded {
		r.Load(ctx)
		r.endTurn(ctx, c, arrival{Exchange: thread.Exchange{Text: c.Answer}}, nil)
	}
}
