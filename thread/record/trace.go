package record

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

const (
	// longestRef is longer than any path.
	longestRef = 4096
	// mostUses, mostBefore and mostNatives are how many executions a chain has beside its own.
	mostUses    = 20
	mostBefore  = 20
	shownBefore = 5
	mostNatives = 50
	// lastEvents is how many of the last things that it did a chain has, each with at most lastText bytes.
	lastEvents = 6
	lastText   = 600
)

// Trace returns the chain that something is a part of, with what is wrong with it as far as the record tells. Compare adds
// what has become of the files.
func (a *Answers) Trace(ctx context.Context, by Author, q TraceRequest) (Trace, error) {
	t := Trace{Ref: q.Ref}
	x, err := a.resolve(ctx, by, &t)
	if err != nil {
		return Trace{}, err
	}
	if err := a.fill(ctx, by, x, q.Full, &t); err != nil {
		return Trace{}, err
	}
	return t, nil
}

// resolve finds the execution that a reference leads to, and notes what the reference stands for.
func (a *Answers) resolve(ctx context.Context, by Author, t *Trace) (work.Execution, error) {
	ref := strings.TrimSpace(t.Ref)
	if ref == "" || len(ref) > longestRef {
		return work.Execution{}, unknownRef(t.Ref)
	}
	x, err := a.execution(ctx, by, ref)
	if err == nil {
		t.Found = LinkedExecution
		return x, nil
	}
	if !errors.Is(err, thread.ErrNotFound) && !errors.Is(err, thread.ErrNotGranted) {
		return x, err
	}
	for _, find := range []func(context.Context, Author, string, *Trace) (work.Execution, error){a.byOutput, a.byFile, a.byBundle} {
		x, other := find(ctx, by, ref, t)
		if other == nil || !errors.Is(other, thread.ErrNotFound) {
			return x, other
		}
	}
	if errors.Is(err, thread.ErrNotFound) {
		err = unknownRef(t.Ref)
	}
	return work.Execution{}, err
}

// unknownRef is the error for a reference that stands for nothing.
func unknownRef(ref string) error {
	return thread.Hint(thread.Kindf(thread.ErrNotFound, "%q is no execution, no output, no bundle and no file that came of one", thread.Excerpt(ref)),
		"`orchestrator history` lists executions")
}

// byOutput finds the execution of an output by its number: 42, #42.
func (a *Answers) byOutput(ctx context.Context, by Author, ref string, t *Trace) (work.Execution, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(ref, "#"), 10, 64)
	if err != nil || n < 1 {
		return work.Execution{}, thread.ErrNotFound
	}
	list, err := a.c.Store.Outputs(ctx, work.OutputQuery{Before: n + 1, Limit: 1, By: by.seen()})
	if err != nil {
		return work.Execution{}, err
	}
	if len(list) == 0 || list[0].N != n {
		return work.Execution{}, thread.ErrNotFound
	}
	t.Found, t.Output = LinkedOutput, n
	return a.execution(ctx, by, list[0].Execution)
}

// byFile finds the execution of which the newest version of a file came.
func (a *Answers) byFile(ctx context.Context, by Author, ref string, t *Trace) (work.Execution, error) {
	list, err := a.c.Store.Outputs(ctx, work.OutputQuery{Path: slashed(ref), Limit: mostUses, By: by.seen()})
	if err != nil {
		return work.Execution{}, err
	}
	var newest work.Execution
	for _, o := range list {
		x, err := a.execution(ctx, by, o.Execution)
		if err != nil {
			continue // it was recorded of an execution that is not seen, or is gone
		}
		if newest.ID == "" {
			newest, t.Output = x, o.N
		}
		t.Versions = append(t.Versions, madeOf(o, x.Name))
	}
	if newest.ID == "" {
		return work.Execution{}, thread.ErrNotFound
	}
	t.Found = LinkedFile
	return newest, nil
}

// byBundle finds the newest execution that was given a bundle.
func (a *Answers) byBundle(ctx context.Context, by Author, ref string, t *Trace) (work.Execution, error) {
	b, err := a.c.Store.Bundle(ctx, ref)
	if err != nil {
		return work.Execution{}, err
	}
	list, err := a.c.Store.Recorded(ctx, work.RecordQuery{Bundle: b.Bundle.ID, Seen: by.seen(), Limit: mostUses})
	switch {
	case err != nil:
		return work.Execution{}, err
	case len(list) == 0 && by.seen() != nil && b.By != by.Thread:
		return work.Execution{}, unseen(ref)
	case len(list) == 0:
		return work.Execution{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "bundle %s was given to no execution yet", b.Bundle.ID),
			"`orchestrator bundle show "+b.Bundle.ID+"` shows it")
	}
	t.Found, t.Uses = LinkedBundle, rows(list)
	return list[0], nil
}

// rows returns executions as answers print them.
func rows(list []work.Execution) []work.Row {
	out := make([]work.Row, len(list))
	for i, x := range list {
		out[i] = work.RowOf(x)
	}
	return out
}

// fill fills in the chain of an execution.
func (a *Answers) fill(ctx context.Context, by Author, x work.Execution, full bool, t *Trace) (err error) {
	f := facts{x: x, now: a.c.Now()}
	t.More = x
	t.More.Before = thread.Usage{}
	if t.Given, err = a.given(ctx, x, full); err != nil {
		return err
	}
	f.pieces, f.made, f.asked = t.Given.Context, t.Given.Outputs, t.Given.Asked
	if f.bundle, err = a.bundle(ctx, x); err != nil {
		return err
	}
	if t.Said, t.SaidCut, err = a.text(ctx, x, x.Said, full); err != nil {
		return err
	}
	if t.Said == "" {
		t.Said = x.Answer
	}
	if t.Last, t.Events, err = a.lastOf(ctx, x); err != nil {
		return err
	}
	if err := a.around(ctx, by, x, t, &f); err != nil {
		return err
	}
	f.lineage = a.lineage(ctx, f)
	if err := a.beforeFallback(ctx, x, &f); err != nil {
		return err
	}
	t.Settling = settling(x, f.made, f.now)
	f.settling = t.Settling
	if f.olds, err = a.older(ctx, by, x, f.bundle, f.pieces); err != nil {
		return err
	}
	t.Findings = findings(f)
	return nil
}

// around fills in what stands beside an execution: its work session and task, what ran before it and within it.
func (a *Answers) around(ctx context.Context, by Author, x work.Execution, t *Trace, f *facts) (err error) {
	if x.Session != "" {
		var tasks []work.Task
		if t.Session, tasks, err = a.session(ctx, by, x.Session); err != nil {
			return err
		}
		for _, task := range tasks {
			if task.Title == x.Task {
				t.Task = &task
			}
		}
		if f.session = t.Session; f.session != nil && f.session.Budget.Set() && by.all() {
			if f.spent, err = a.spentIn(ctx, x.Session); err != nil {
				return err
			}
		}
	}
	natives, err := a.c.Store.Recorded(ctx, work.RecordQuery{Parent: x.ID, Seen: by.seen(), Limit: mostNatives})
	if err != nil {
		return err
	}
	f.natives, t.Natives = natives, rows(natives)
	if err := a.earlier(ctx, by, x, t, f); err != nil {
		return err
	}
	for _, other := range []struct {
		id  work.ID
		row **work.Row
		of  **work.Execution
	}{{x.Parent, &t.Parent, nil}, {x.For, &t.InPlaceOf, &f.inPlaceOf}, {x.Instead, &t.Instead, &f.instead}, {x.Replays, &t.Replays, nil}} {
		if other.id == "" {
			continue
		}
		o, err := a.c.Store.Execution(ctx, string(other.id))
		if errors.Is(err, thread.ErrNotFound) || err == nil && !by.sees(o) {
			continue
		}
		if err != nil {
			return err
		}
		row := work.RowOf(o)
		*other.row = &row
		if other.of != nil {
			*other.of = &o
		}
	}
	return nil
}

// earlier fills in what ran before an execution, and the newest of its type that completed.
func (a *Answers) earlier(ctx context.Context, by Author, x work.Execution, t *Trace, f *facts) error {
	q := work.RecordQuery{Session: x.Session, Before: x.ID, Seen: by.seen(), Limit: mostBefore}
	if x.Session == "" {
		q.Thread = x.Thread
	}
	if x.Session != "" || x.Thread != "" {
		list, err := a.c.Store.Recorded(ctx, q)
		if err != nil {
			return err
		}
		f.before = list
		for i := range list {
			if list[i].Task == x.Task && list[i].Parent == x.Parent && len(t.Before) < shownBefore {
				t.Before = append(t.Before, work.RowOf(list[i]))
			}
		}
	}
	if x.Type == "" {
		return nil
	}
	list, err := a.c.Store.Recorded(ctx, work.RecordQuery{
		Type: x.Type, States: []work.State{work.Completed}, Before: x.ID, Seen: by.seen(), Limit: 1,
	})
	if err != nil || len(list) == 0 {
		return err
	}
	f.peer = &list[0]
	f.peerPieces, err = a.c.Store.Allocations(ctx, list[0].ID)
	return err
}

// spentIn returns what was spent in a work session. What sub-agents used is a part of it.
func (a *Answers) spentIn(ctx context.Context, session string) (thread.Usage, error) {
	list, err := a.c.Store.Stats(ctx, work.StatsQuery{
		By: work.StatBySession, Session: session, Kinds: []work.Kind{work.KindRun, work.KindTerminal, work.KindHand},
	})
	var u thread.Usage
	for _, s := range list {
		u = u.Add(s.Usage)
	}
	return u, err
}

// lastOf returns the last things that an execution did, and how many events it has. It finds the end of its record by
// halves: a record may have a million events.
func (a *Answers) lastOf(ctx context.Context, x work.Execution) ([]work.Event, int64, error) {
	has := func(seq int64) (bool, error) {
		list, err := a.c.Store.Events(ctx, x.ID, seq-1, 1)
		return len(list) > 0, err
	}
	low, high := max(x.Given, x.Said), int64(64) // low is there, or 0
	for high <= low {
		high *= 2
	}
	for {
		there, err := has(high)
		if err != nil {
			return nil, 0, err
		}
		if !there {
			break
		}
		low, high = high, high*2
	}
	for low+1 < high {
		middle := low + (high-low)/2
		there, err := has(middle)
		if err != nil {
			return nil, 0, err
		}
		if there {
			low = middle
		} else {
			high = middle
		}
	}
	list, err := a.c.Store.Events(ctx, x.ID, max(0, low-4*lastEvents), 4*lastEvents)
	out := []work.Event{}
	for _, e := range list {
		if e.Kind == work.KindGiven || e.Kind == work.KindSaid || e.Kind == string(thread.RunUsage) || e.Kind == string(thread.RunEnd) {
			continue
		}
		if len(e.Text) > lastText {
			e.Text = strings.ToValidUTF8(e.Text[:lastText], "") + " ..."
		}
		out = append(out, e)
	}
	return out[max(0, len(out)-lastEvents):], low, err
}
