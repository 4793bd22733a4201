package work

import (
	"context"
	"time"

	"orchestrator/thread"
)

// Touched is what a write to a record was about: "" for what it was not.
type Touched struct {
	Session   string // the name of the work session
	Execution ID
	Plan      string // the name of the task of a plan
}

// Watched returns a record that tells of each write that changed something people look at, after it is durable. Touch must
// not block nor use the record. What an execution reports while it works is not told of.
func Watched(r Record, touch func(Touched)) Record { return &watched{r, touch} }

// watched is a Record. It embeds nothing, so that a new kind of write does not go unnoticed.
type watched struct {
	r     Record
	touch func(Touched)
}

// told tells of an execution that was written.
func (w *watched) told(x Execution, err error) (Execution, error) {
	if err == nil {
		w.touch(Touched{Session: x.Session, Execution: x.ID})
	}
	return x, err
}

func (w *watched) Add(ctx context.Context, x Execution, events ...Event) (Execution, error) {
	return w.told(w.r.Add(ctx, x, events...))
}

func (w *watched) Claim(ctx context.Context, id ID, server string, at time.Time) (Execution, error) {
	return w.told(w.r.Claim(ctx, id, server, at))
}

func (w *watched) Change(ctx context.Context, id ID, fence int64, change func(*Execution) error, events ...Event) (Execution, error) {
	return w.told(w.r.Change(ctx, id, fence, change, events...))
}

func (w *watched) Supersede(ctx context.Context, id ID, change func(*Execution) error, events ...Event) (Execution, error) {
	return w.told(w.r.Supersede(ctx, id, change, events...))
}

func (w *watched) Append(ctx context.Context, id ID, fence int64, events ...Event) error {
	return w.r.Append(ctx, id, fence, events...)
}

func (w *watched) Execution(ctx context.Context, ref string) (Execution, error) {
	return w.r.Execution(ctx, ref)
}

func (w *watched) Executions(ctx context.Context, q Query) ([]Execution, error) {
	return w.r.Executions(ctx, q)
}

func (w *watched) Open(ctx context.Context) ([]Execution, error) { return w.r.Open(ctx) }

func (w *watched) Events(ctx context.Context, id ID, after int64, limit int) ([]Event, error) {
	return w.r.Events(ctx, id, after, limit)
}

func (w *watched) Purge(ctx context.Context, threads []thread.ID) (int, error) {
	n, err := w.r.Purge(ctx, threads)
	if n > 0 {
		w.touch(Touched{})
	}
	return n, err
}

func (w *watched) AddSession(ctx context.Context, s Session) (Session, error) {
	s, err := w.r.AddSession(ctx, s)
	if err == nil {
		w.touch(Touched{Session: s.Name})
	}
	return s, err
}

func (w *watched) ChangeSession(ctx context.Context, name string, change func(*Session) error) (Session, error) {
	s, err := w.r.ChangeSession(ctx, name, change)
	if err == nil {
		w.touch(Touched{Session: s.Name})
	}
	return s, err
}

func (w *watched) Session(ctx context.Context, name string) (Session, error) {
	return w.r.Session(ctx, name)
}

func (w *watched) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	return w.r.Sessions(ctx, q)
}

func (w *watched) ChangeTask(ctx context.Context, session, title string, change func(*Task) error) (Task, error) {
	t, err := w.r.ChangeTask(ctx, session, title, change)
	if err == nil {
		w.touch(Touched{Session: t.Session})
	}
	return t, err
}

func (w *watched) Tasks(ctx context.Context, session string) ([]Task, error) {
	return w.r.Tasks(ctx, session)
}

func (w *watched) Allocate(ctx context.Context, id ID, pieces []Allocation) error {
	err := w.r.Allocate(ctx, id, pieces)
	if err == nil {
		w.touch(Touched{Execution: id})
	}
	return err
}

func (w *watched) Allocations(ctx context.Context, id ID) ([]Allocation, error) {
	return w.r.Allocations(ctx, id)
}

func (w *watched) AddOutputs(ctx context.Context, id ID, outputs []Output) ([]Output, error) {
	all, err := w.r.AddOutputs(ctx, id, outputs)
	if err == nil {
		w.touch(Touched{Execution: id})
	}
	return all, err
}

func (w *watched) End(
	ctx context.Context, id ID, fence int64, change func(*Execution) error, outputs []Output, events ...Event,
) (Execution, []Output, error) {
	x, all, err := w.r.End(ctx, id, fence, change, outputs, events...)
	x, err = w.told(x, err)
	return x, all, err
}

func (w *watched) Outputs(ctx context.Context, q OutputQuery) ([]Output, error) {
	return w.r.Outputs(ctx, q)
}

func (w *watched) PutBundle(ctx context.Context, b KeptBundle, pieces map[string][]byte) (KeptBundle, error) {
	b, err := w.r.PutBundle(ctx, b, pieces)
	if err == nil {
		w.touch(Touched{Session: b.Session})
	}
	return b, err
}

func (w *watched) Bundle(ctx context.Context, ref string) (KeptBundle, error) {
	return w.r.Bundle(ctx, ref)
}

func (w *watched) Bundles(ctx context.Context, q BundleQuery) ([]KeptBundle, error) {
	return w.r.Bundles(ctx, q)
}

func (w *watched) Piece(ctx context.Context, hash string) ([]byte, error) {
	return w.r.Piece(ctx, hash)
}

func (w *watched) Recorded(ctx context.Context, q RecordQuery) ([]Execution, error) {
	return w.r.Recorded(ctx, q)
}

func (w *watched) Stats(ctx context.Context, q StatsQuery) ([]Stat, error) { return w.r.Stats(ctx, q) }

func (w *watched) Written(ctx context.Context, by thread.ID) (rows, bytes int64, err error) {
	return w.r.Written(ctx, by)
}
