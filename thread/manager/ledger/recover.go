package ledger

import (
	"context"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Left is a process in a terminal that an earlier server left open, and what its thread has used in all.
type Left struct {
	Execution thread.Execution
	Thread    thread.Thread
	Used      thread.Usage
}

// Recover ends what earlier servers left open, in the background: the rows of this store that are open, of processes of
// which there is no row, and what could not be written.
func (l *Ledger) Recover(left []Left) {
	if l == nil {
		return
	}
	r := leftOpen{used: map[work.ID]thread.Usage{}, kept: map[work.ID]bool{}, now: l.c.Now()}
	var items []item
	for _, p := range left {
		r.used[work.ID(p.Execution.ID)] = p.Used
		x := newProcess(Process{ID: p.Execution.ID, Thread: p.Thread, Started: p.Execution.Started, Before: p.Used}, l.here()).row
		x.Agent, x.Server = p.Execution.Agent, ""
		r.lose(&x)
		items = append(items, item{Row: x, New: true}) // for where there is none: one that is stored comes over it
	}
	for _, i := range l.queue.kept.read() {
		r.kept[i.Row.ID] = true
		r.lose(&i.Row)
		i.New = !i.Note // what is stored already stays
		items = append(items, i)
	}
	l.queue.open(items, func(ctx context.Context) error { return l.loseOpen(ctx, r) })
}

// leftOpen is what is known at the start of a server of what earlier ones left: what the threads had used by the rows of
// their processes, and which rows were kept beside the store.
type leftOpen struct {
	used map[work.ID]thread.Usage
	kept map[work.ID]bool
	now  time.Time
}

// loseOpen has all open rows of earlier servers ended as lost.
func (l *Ledger) loseOpen(ctx context.Context, r leftOpen) error {
	q := work.RecordQuery{Kinds: []work.Kind{work.KindTerminal, work.KindNative}, States: work.OpenStates(), Limit: 1000}
	for {
		list, err := l.c.Store.Recorded(ctx, q)
		if err != nil {
			return fmt.Errorf("read what earlier servers left open: %w", err)
		}
		for _, x := range list {
			damaged := x.State.Final() // it was not asked for
			if x.Server != l.c.Server && !r.kept[x.ID] && !damaged {
				r.lose(&x)
				l.queue.put(item{Row: x})
			}
			q.Before = x.ID
		}
		if len(list) < q.Limit {
			return nil
		}
	}
}

// lose ends a row whose process is gone.
func (r leftOpen) lose(x *work.Execution) {
	if x.State.Final() {
		return
	}
	x.State, x.Ended = work.Lost, r.now
	x.Reason = "the server ended without recording its end"
	if u, known := r.used[x.ID]; known {
		if all := since(x.Before, u); all.Context() > x.Usage.Context() {
			x.Usage = all
		}
	}
}

// since returns what was used after a point.
func since(before, after thread.Usage) thread.Usage {
	return thread.Usage{
		Input: after.Input - before.Input, CacheRead: after.CacheRead - before.CacheRead,
		CacheWrite: after.CacheWrite - before.CacheWrite, CacheWriteHour: after.CacheWriteHour - before.CacheWriteHour,
		Output: after.Output - before.Output, CostUSD: max(0, after.CostUSD-before.CostUSD), Priced: after.Priced,
		Unknown: max(0, after.Unknown-before.Unknown),
	}
}
