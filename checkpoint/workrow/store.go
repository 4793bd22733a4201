package workrow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

// Add stores a new execution.
func (s *Store) Add(ctx context.Context, x work.Execution, events ...work.Event) (work.Execution, error) {
	added, first, refused := work.Added(x, s.now())
	all := append([]work.Event{first}, work.Noted(added, events, s.now())...)
	var out work.Execution
	err := s.db.Write(ctx, size(events), func(tx Tx) error {
		old, there, err := s.find(tx, x.ID)
		switch {
		case err != nil:
			return err
		case there:
			out, err = old.Execution()
			return err
		case refused != nil:
			return refused
		}
		if err := s.joins(tx, added.Kind, added.Session); err != nil {
			return err
		}
		numbered, rows, err := numbered(added, 0, all)
		if err != nil {
			return err
		}
		n, free := int64(0), false
		if out, n, free, err = s.insert(tx, numbered); err != nil || !free {
			return err
		}
		failpoint.Hit("work.add.row")
		if err := note(tx, n, rows); err != nil {
			return err
		}
		if err := s.d.wroteEvents(tx, out, 1, rows); err != nil {
			return err
		}
		return s.d.derive(tx, n, out)
	})
	if err != nil {
		return work.Execution{}, err
	}
	return out, nil
}

// insert adds the row of an execution, under the next name that is free unless it has one, and returns it with its number;
// false if another program added it at the same time.
func (s *Store) insert(tx Tx, x work.Execution) (out work.Execution, n int64, free bool, err error) {
	for number := x.Name == ""; ; {
		if number {
			next, err := s.d.next(tx, x.Kind.Prefix())
			if err != nil {
				return x, 0, false, err
			}
			x.Name = work.NumberedAs(x.Kind.Prefix(), next)
		}
		r, err := Pack(0, x)
		if err != nil {
			return x, 0, false, err
		}
		query, args := insertion("work", "ON CONFLICT DO NOTHING RETURNING n", s.d.all(), r.pairs())
		if err := tx.Query(query, args, func(scan Scan) error { free = true; return scan(&n) }); err != nil || free {
			return x, n, free, err
		}
		old, there, err := s.find(tx, x.ID)
		if err != nil {
			return x, 0, false, err
		}
		if there {
			x, err = old.Execution()
			return x, 0, false, err
		}
		if !number {
			return x, 0, false, thread.Hint(fmt.Errorf("run %q: %w", x.Name, thread.ErrNameTaken), "choose another name")
		}
	}
}

// derive writes what an execution is searched by for the first time.
func (d Dialect) derive(tx Tx, n int64, x work.Execution) error {
	query, args := insertion("work_fact", "", d.all(), []Pair{{"work", n}}, facts(x))
	if _, err := tx.Exec(query, args...); err != nil {
		return err
	}
	if p := x.Part; p.Task != "" {
		query, args := insertion("work_part", "", d.all(), []Pair{{"work", n}, {"task", p.Task}, {"agent", p.Agent}, {"round", p.Round}})
		if _, err := tx.Exec(query, args...); err != nil {
			return err
		}
	}
	words, err := foundBy(tx, n, x)
	if err != nil {
		return err
	}
	return d.reword(tx, n, nil, words)
}

// Claim gives a queued execution to a server.
func (s *Store) Claim(ctx context.Context, id work.ID, server string, at time.Time) (work.Execution, error) {
	return s.write(ctx, id, rowSize, func(x work.Execution) (work.Execution, []work.Event, error) {
		x, e, err := work.Claimed(x, server, at)
		return x, []work.Event{e}, err
	})
}

// Change changes an execution in one step.
func (s *Store) Change(
	ctx context.Context, id work.ID, fence int64, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	return s.write(ctx, id, size(events), s.changing(fence, change, events))
}

// changing is the change of Change.
func (s *Store) changing(
	fence int64, change func(*work.Execution) error, events []work.Event,
) func(work.Execution) (work.Execution, []work.Event, error) {
	return func(x work.Execution) (work.Execution, []work.Event, error) {
		if x.Fence != fence {
			return x, nil, work.ErrFence
		}
		return work.Changed(x, false, change, events, s.now())
	}
}

// Supersede changes an execution in one step and raises its fence.
func (s *Store) Supersede(
	ctx context.Context, id work.ID, change func(*work.Execution) error, events ...work.Event,
) (work.Execution, error) {
	return s.write(ctx, id, size(events), func(x work.Execution) (work.Execution, []work.Event, error) {
		return work.Changed(x, true, change, events, s.now())
	})
}

// Append adds events.
func (s *Store) Append(ctx context.Context, id work.ID, fence int64, events ...work.Event) error {
	_, err := s.write(ctx, id, size(events), func(x work.Execution) (work.Execution, []work.Event, error) {
		if x.Fence != fence {
			return x, nil, work.ErrFence
		}
		return x, work.Noted(x, events, s.now()), nil
	})
	return err
}

// write replaces an execution by what change makes of it, and adds its events, in one transaction.
func (s *Store) write(
	ctx context.Context, id work.ID, need int64, change func(work.Execution) (work.Execution, []work.Event, error),
) (work.Execution, error) {
	var out work.Execution
	err := s.db.Write(ctx, need, func(tx Tx) (err error) {
		out, err = s.rewrite(tx, id, change)
		return err
	})
	if err != nil {
		return work.Execution{}, err
	}
	return out, nil
}

// rewrite is write in a transaction.
func (s *Store) rewrite(tx Tx, id work.ID, change func(work.Execution) (work.Execution, []work.Event, error)) (work.Execution, error) {
	r, old, err := s.get(tx, id)
	if err != nil {
		return old, err
	}
	x, events, err := change(old)
	if err != nil {
		return x, err
	}
	if x.Session != old.Session {
		if err := s.joins(tx, x.Kind, x.Session); err != nil {
			return x, err
		}
	}
	var rows []EventRow
	if len(events) > 0 {
		seq, err := last(tx, r.N)
		if err != nil {
			return x, err
		}
		if x, rows, err = numbered(x, seq, events); err != nil {
			return x, err
		}
	}
	if x != old {
		if err := s.update(tx, r.N, old, x, rows); err != nil {
			return x, err
		}
	}
	failpoint.Hit("work.write.row")
	if err := s.d.wroteEvents(tx, x, 0, rows); err != nil {
		return x, err
	}
	return x, note(tx, r.N, rows)
}

// update replaces the row of an execution, and of what it is searched by what has changed; events are those that follow.
func (s *Store) update(tx Tx, n int64, old, x work.Execution, events []EventRow) error {
	r, err := Pack(n, x)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE work SET state = ?, sum = ?, doc = ? WHERE n = ?", string(r.State), r.Sum, r.Doc, n); err != nil {
		return err
	}
	set, args := []string{}, []any{}
	before := facts(old)
	for i, p := range facts(x) {
		if before[i] != p {
			set, args = append(set, p.Column+" = ?"), append(args, p.Value)
		}
	}
	if len(set) > 0 {
		if _, err := tx.Exec("UPDATE work_fact SET "+strings.Join(set, ", ")+" WHERE work = ?", append(args, n)...); err != nil {
			return err
		}
	}
	if x.Session != old.Session || x.AgentType() != old.AgentType() {
		if _, err := tx.Exec("UPDATE work_output SET session = ?, agent_type = ? WHERE work = ?", x.Session, x.AgentType(), n); err != nil {
			return err
		}
	}
	if !retold(old, x) {
		return nil
	}
	return s.retell(tx, n, old, x, events)
}

// retell has an execution be found by its words after a change.
func (s *Store) retell(tx Tx, n int64, old, x work.Execution, events []EventRow) error {
	before, err := foundBy(tx, n, old)
	if err != nil {
		return err
	}
	if x.Given == old.Given || len(events) == 0 || x.Given < events[0].Seq {
		now, err := foundBy(tx, n, x)
		if err != nil {
			return err
		}
		return s.d.reword(tx, n, before, now)
	}
	given := events[x.Given-events[0].Seq].Event().Text // which is not in the table yet
	without := x
	without.Given = 0
	now, err := foundBy(tx, n, without)
	if err != nil {
		return err
	}
	now = append(now, work.FoundBy(x, given, nil)...)
	slices.Sort(now)
	return s.d.reword(tx, n, before, slices.Compact(now))
}

// Execution finds one by id or name.
func (s *Store) Execution(ctx context.Context, ref string) (work.Execution, error) {
	r, err := s.row(ctx, ref)
	if err != nil {
		return work.Execution{}, err
	}
	return r.Execution()
}

// Executions lists some runs, newest first. It asks for each state by itself: an index has each in this order.
func (s *Store) Executions(ctx context.Context, q work.Query) ([]work.Execution, error) {
	before := maxN
	if q.Before != "" {
		r, err := s.row(ctx, string(q.Before))
		if err != nil {
			return nil, err
		}
		before = r.N
	}
	states := slices.Compact(slices.Sorted(slices.Values(q.States)))
	if len(states) == 0 {
		states = []work.State{""}
	}
	var rows []Row
	for _, state := range states {
		query, args := s.d.runs(q.Thread, state, before, q.Size())
		some, err := s.rows(ctx, query, args)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(b.N, a.N) })
	return shown(rows[:min(len(rows), q.Size())]), nil
}

// runs is the statement that lists runs, newest first, in the order of an index. Of a thread and a state it goes through the
// executions of the thread, which are few, and not through all of the state.
func (d Dialect) runs(owner thread.ID, state work.State, before int64, limit int) (string, []any) {
	w := of("f.", d.all())
	kind, stated := d.Aside+"f.kind = ?", d.Aside+"f.state = ?"
	if owner != "" {
		w.and("f.thread = ?", string(owner))
	} else if state != "" {
		kind, stated = "f.kind = ?", "f.state = ?"
	}
	w.and(kind, string(work.KindRun))
	if state != "" {
		w.and(stated, string(state))
	}
	w.and("f.work < ?", before)
	return joined + "work_fact f CROSS JOIN work w WHERE w.n = f.work AND " + w.String() + " ORDER BY f.work DESC LIMIT ?",
		append(w.args, limit)
}

// Open returns the runs that are not final, oldest first.
func (s *Store) Open(ctx context.Context) ([]work.Execution, error) {
	query, args := s.d.unended()
	rows, err := s.rows(ctx, query, args)
	if err != nil {
		return nil, err
	}
	out := make([]work.Execution, 0, len(rows))
	for _, r := range rows {
		if x, err := r.Execution(); err == nil {
			out = append(out, x)
		}
	}
	return out, nil
}

// unended is the statement of Open.
func (d Dialect) unended() (string, []any) {
	w := of("f.", d.all())
	w.and("f.kind = ?", string(work.KindRun))
	in(w, "f.state", work.OpenStates())
	return joined + "work_fact f CROSS JOIN work w WHERE w.n = f.work AND " + w.String() + " ORDER BY f.work", w.args
}

// Events returns events that follow on after, oldest first.
func (s *Store) Events(ctx context.Context, id work.ID, after int64, limit int) ([]work.Event, error) {
	r, err := s.row(ctx, string(id))
	if err != nil {
		return nil, err
	}
	out := []work.Event{}
	err = s.db.Query(ctx, someEvents, []any{r.N, after, work.EventLimit(limit)}, func(scan Scan) error {
		var e EventRow
		err := scan(&e.Seq, &e.Sum, &e.Doc)
		out = append(out, e.Event())
		return err
	})
	return out, err
}

const someEvents = "SELECT seq, sum, doc FROM work_event WHERE work = ? AND seq > ? ORDER BY seq LIMIT ?"
