package rebuild

import (
	"context"
	"errors"
	"time"

	"orchestrator/thread"
)

// writer stores turns on top of a checkpoint.
type writer struct {
	*job
	on   thread.Checkpoint // the newest one; the zero one at the beginning
	told []Turn
	main thread.Chunk // what was added to the main file
	at   int64        // how much of it is stored
	side []thread.Chunk
	kept []Snapshot
	// bare is set once a piece of the transcript was too large for the store.
	bare bool

	cost     float64
	from, to int
}

// all stores the turns.
func (w *writer) all(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	for i, t := range w.told {
		if err := w.turn(ctx, t, i); err != nil {
			return err
		}
	}
	return nil
}

// begin resets a thread without stored turns to where its turns begin. Its head moves with the first of them: until
// then it has lost its turns, and must not look as if it had none.
func (w *writer) begin(ctx context.Context) error {
	if w.t.Head != "" {
		w.cost = w.t.Gauge.CostUSD
		return nil
	}
	_, err := w.config.Store.UpdateThread(ctx, w.t.ID, func(t *thread.Thread) error {
		t.ForkPoint = w.on.ID
		t.Usage = thread.Usage{} // what is rebuilt is counted again
		return nil
	})
	return err
}

// turn stores the missing part of one turn.
func (w *writer) turn(ctx context.Context, t Turn, i int) error {
	more := i+1 < len(w.told)
	if t.known == len(t.Said) && (more && w.told[i+1].known > 0 || w.on.Kind != thread.KindResponse) {
		return nil // it is complete
	}
	n := w.on.Turn
	if t.known == 0 && !w.goesOn(t) {
		n++
	}
	if t.Prompt == "" && n == w.on.Turn {
		t.Prompt = w.on.Prompt
	}
	for k, e := range t.Said {
		if k < t.known {
			continue
		}
		c := w.response(t, e, n)
		d := thread.Delta{Keep: w.on.Items, Items: thread.PlainItems(e, k == 0 && t.Prompt != "")}
		open := k == len(t.Said)-1 && !more && !t.ended()
		if err := w.put(ctx, c, d, t, open); err != nil {
			return err
		}
	}
	if t.ended() || more {
		c := w.on
		c.ID, c.Parent, c.Kind, c.Thread = thread.NewID[thread.CheckpointID](), w.on.ID, thread.KindTurn, w.t.ID
		c.Seq, c.Usage, c.Note, c.Turn = 0, thread.Usage{}, thread.NoteRebuilt, n
		c.Interrupted = !t.ended() || t.last().Interrupted
		c.Snapshot = w.snapshot(t, i)
		if err := w.put(ctx, c, thread.Delta{Keep: w.on.Items}, t, true); err != nil {
			return err
		}
	}
	if w.from == 0 {
		w.from = n
	}
	w.to = n
	return nil
}

// goesOn reports whether a turn is the unfinished one of the newest checkpoint.
func (w *writer) goesOn(t Turn) bool {
	return w.on.Kind == thread.KindResponse && (t.Prompt == "" || alike(t.Prompt) == alike(w.on.Prompt))
}

// response prepares the checkpoint of a response.
func (w *writer) response(t Turn, e thread.Exchange, n int) thread.Checkpoint {
	w.complete(&e)
	first := w.on.First
	if n != w.on.Turn {
		first = w.on.Items + 1
	}
	w.cost += t.side/float64(len(t.Said)) + e.Usage.CostUSD
	c := thread.Checkpoint{
		ID: thread.NewID[thread.CheckpointID](), Thread: w.t.ID, Parent: w.on.ID, Turn: n, Kind: thread.KindResponse,
		Created: e.Ended, Prompt: thread.Excerpt(t.Prompt), Answer: thread.Excerpt(e.Text), Model: e.Model, Stop: e.Stop, Usage: e.Usage,
		Interrupted: e.Interrupted, Session: w.t.Session, Note: thread.NoteRebuilt,
		First: first, Base: w.t.Base.Recorded(),
		Gauge: thread.Gauge{
			Tokens: e.Usage.Context(), Window: e.Window, Model: e.Model, Source: "transcript", CostUSD: w.cost,
		},
	}
	if c.Created.IsZero() {
		c.Created = w.t.Updated
	}
	if w.was != nil && t.End == w.told[len(w.told)-1].End {
		c.Gauge.CostUSD = max(c.Gauge.CostUSD, w.was.Gauge.CostUSD) // side requests may be in no transcript
	}
	return c
}

// complete fills in what the transcript lacks: the model's window and the price.
func (w *writer) complete(e *thread.Exchange) {
	if w.config.Models == nil {
		return
	}
	if e.Window == 0 {
		var own map[string]int64
		if a, ok := w.agent.(thread.Agent); ok {
			around, err := a.World(thread.WorldSpec{
				Dir: w.t.Dir, Env: w.config.Env, Flags: w.t.Launch, Model: w.t.Model,
			})
			if err == nil { // otherwise its own windows are not known
				own = around.Windows
			}
		}
		e.Window = w.config.Models.Window(e.Model, e.Usage.Context(), own)
	}
	if !e.Usage.Priced {
		e.Usage.CostUSD, e.Usage.Priced = w.config.Models.Cost(e.Model, e.Usage)
	}
}

// put stores a checkpoint; at the turn's end, the piece of the transcript up to there as well.
func (w *writer) put(ctx context.Context, c thread.Checkpoint, d thread.Delta, t Turn, ends bool) error {
	if ends && !w.bare && t.End > w.at {
		from := w.at - w.main.Offset
		d.Transcript = append(d.Transcript,
			thread.Chunk{File: mainFile, Offset: w.at, Data: w.main.Data[from : t.End-w.main.Offset]})
		d.Transcript = append(d.Transcript, w.side...)
	}
	stored, err := w.config.Store.PutCheckpoint(ctx, c, d)
	if errors.Is(err, thread.ErrInvalid) && len(d.Transcript) > 0 {
		w.bare, d.Transcript = true, nil // the agent's own file has it
		stored, err = w.config.Store.PutCheckpoint(ctx, c, d)
	}
	if err != nil {
		return err
	}
	if len(d.Transcript) > 0 {
		w.at, w.side = t.End, nil
	}
	w.on = stored
	return nil
}

// snapshot returns the snapshot taken when a turn ended: after its last answer, and before that of the next turn.
func (w *writer) snapshot(t Turn, i int) *thread.Snapshot {
	ended, next := t.last().Ended, time.Time{}
	if i+1 < len(w.told) {
		next = w.told[i+1].Said[0].Ended
	}
	if ended.IsZero() {
		return nil
	}
	for _, k := range w.kept {
		if !k.From.Before(ended) && (next.IsZero() || !k.Until.After(next)) {
			return &k.Snapshot
		}
	}
	return nil
}
