package record

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// settles is how long after an end what came of it may still be on its way into the record.
const settles = 30 * time.Second

// settling reports whether what came of an execution that has just ended is probably still being written down: its files
// differ and none is recorded, or what it used is not counted.
func settling(x work.Execution, made []Made, now time.Time) bool {
	if !x.State.Final() || x.Kind != work.KindRun && x.Kind != work.KindTerminal || now.Sub(x.Ended) > settles {
		return false
	}
	files := x.Base != "" && x.Result != "" && x.Base != x.Result && !x.ReadOnly
	if files && !slices.ContainsFunc(made, func(m Made) bool { return m.Type == work.OutputDeliverable }) {
		return true
	}
	return x.Kind == work.KindRun && x.Usage == (thread.Usage{}) && x.Counted < x.Attempt
}

// firstEvents is how many events are looked through for what the first attempt was asked.
const firstEvents = 200

// beforeFallback fills in what was given before a fallback took over: to the other execution, or to the first attempt.
func (a *Answers) beforeFallback(ctx context.Context, x work.Execution, f *facts) (err error) {
	if f.inPlaceOf != nil {
		f.firstPieces, err = a.c.Store.Allocations(ctx, f.inPlaceOf.ID)
		return err
	}
	if x.FellBack == 0 || x.Attempt < x.FellBack {
		return nil
	}
	list, err := a.c.Store.Events(ctx, x.ID, 0, firstEvents)
	for _, e := range list {
		if e.Kind == work.KindGiven && e.Attempt < x.FellBack {
			f.first = e.Text
			break
		}
	}
	if err != nil || f.first == "" {
		return err
	}
	f.newest, _, err = a.text(ctx, x, x.Given, true)
	return err
}

// Lineage tells how commits stand to each other. A Files that can tell it is asked.
type Lineage interface {
	// Follows reports whether a commit has all of the history of another; known is false if git cannot tell. Of a snapshot
	// the commit counts that it was taken on.
	Follows(ctx context.Context, commit, other string) (follows, known bool)
}

// lineage returns how the commit at which an execution began stands to that of the one before it.
func (a *Answers) lineage(ctx context.Context, f facts) lineage {
	l, can := a.c.Files.(Lineage)
	was := earlierBase(f)
	if !can || f.x.Base == "" || was.Base == "" {
		return ""
	}
	switch follows, known := l.Follows(ctx, f.x.Base, was.Base); {
	case !known:
		return ""
	case follows:
		return lineageFollows
	default:
		return lineageOther
	}
}
