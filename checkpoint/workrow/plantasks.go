package workrow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// AddTask stores a task with its nodes.
func (s *Plans) AddTask(ctx context.Context, t plan.Task, nodes []plan.Node) (plan.Task, error) {
	added, nodes, first, err := plan.AddedTask(t, nodes, s.now())
	if err != nil {
		return plan.Task{}, err
	}
	p, err := packPlan(added.Plan)
	if err != nil {
		return plan.Task{}, err
	}
	var out plan.Task
	err = s.db.Write(ctx, nodesSize(nodes)+int64(rowSize), func(tx Tx) error {
		if t.ID != "" {
			r, err := s.lock(tx, t.ID)
			if err == nil {
				out, err = whole(tx.Query, r)
				return err
			}
			if !isNone(err) {
				return err
			}
		}
		document, err := s.d.put(tx, p)
		if err != nil {
			return err
		}
		n := int64(0)
		if out, n, err = s.insertTask(tx, added, document); err != nil {
			return err
		}
		failpoint.Hit("plan.add.row")
		if err := s.d.addNodes(tx, n, out.Name, nodes); err != nil {
			return err
		}
		return s.d.noteTask(tx, n, []plan.Event{first})
	})
	if err != nil {
		return plan.Task{}, err
	}
	return out, nil
}

// insertTask adds the row of a task, under the next name that is free unless it has one.
func (s *Plans) insertTask(tx Tx, t plan.Task, document *int64) (out plan.Task, n int64, err error) {
	for number := t.Name == ""; ; {
		if number {
			next, err := s.d.next(tx, plan.Prefix)
			if err != nil {
				return t, 0, err
			}
			t.Name = work.NumberedAs(plan.Prefix, next)
		}
		cols, err := planTaskPairs(t)
		if err != nil {
			return t, 0, err
		}
		free := false
		query, args := insertion("plan_task", "ON CONFLICT DO NOTHING RETURNING n", s.d.all(),
			[]Pair{{"id", t.ID}, {"name", t.Name}, {"document", document}}, cols)
		if err := tx.Query(query, args, func(scan Scan) error { free = true; return scan(&n) }); err != nil || free {
			return t, n, err
		}
		if !number {
			return t, 0, thread.Hint(fmt.Errorf("task %q: %w", t.Name, thread.ErrNameTaken), "choose another name")
		}
	}
}

// updateTask replaces the row of a task; its plan too if p is not nil.
func (s *Plans) updateTask(tx Tx, n int64, t plan.Task, p *packedPlan) error {
	cols, err := planTaskPairs(t)
	if err != nil {
		return err
	}
	if p != nil {
		document, err := s.d.put(tx, p)
		if err != nil {
			return err
		}
		cols = append(cols, Pair{"document", document})
	}
	set, args := "", []any{}
	for _, c := range cols {
		set += ", " + c.Column + " = ?"
		args = append(args, c.Value)
	}
	_, err = tx.Exec("UPDATE plan_task SET "+set[2:]+" WHERE n = ?", append(args, n)...)
	return err
}

// BeginTask puts a plan at work on a task.
func (s *Plans) BeginTask(ctx context.Context, name string, change func(*plan.Task) error, nodes []plan.Node) (plan.Task, error) {
	var out plan.Task
	err := s.db.Write(ctx, nodesSize(nodes), func(tx Tx) error {
		r, err := s.lock(tx, name)
		if err != nil {
			return err
		}
		out, err = s.begin(tx, r, change, nodes)
		return err
	})
	if err != nil {
		return plan.Task{}, err
	}
	return out, nil
}

// begin is BeginTask for a task whose row is locked.
func (s *Plans) begin(tx Tx, r taskRow, change func(*plan.Task) error, nodes []plan.Node) (plan.Task, error) {
	old, err := whole(tx.Query, r)
	if err != nil {
		return plan.Task{}, err
	}
	t, nodes, events, err := plan.BegunTask(old, change, nodes, s.now())
	if err != nil {
		return plan.Task{}, err
	}
	p, err := changedPlan(old, t)
	if err != nil {
		return plan.Task{}, err
	}
	if err := s.updateTask(tx, r.n, t, p); err != nil {
		return plan.Task{}, err
	}
	failpoint.Hit("plan.begin.row")
	if err := s.d.dropNodes(tx, r.n); err != nil { // of a task that had begun before, and waits again
		return plan.Task{}, err
	}
	if err := s.d.addNodes(tx, r.n, t.Name, nodes); err != nil {
		return plan.Task{}, err
	}
	return t, s.d.noteTask(tx, r.n, events)
}

// changedPlan packs the plan of a task if a change has set another; nil if not.
func changedPlan(old, t plan.Task) (*packedPlan, error) {
	if t.Plan == old.Plan {
		return nil, nil
	}
	return packPlan(t.Plan)
}

// TakeTask begins the first of the pending tasks of an armed plan. Its row is locked first: of two at once one takes it.
func (s *Plans) TakeTask(
	ctx context.Context, planName, server string, at time.Time, nodes func(plan.Task) ([]plan.Node, error),
) (out plan.Task, ok bool, err error) {
	err = s.db.Write(ctx, rowSize, func(tx Tx) error {
		out, ok = plan.Task{}, false
		r, there, err := s.d.armed(tx, planName)
		if err != nil || !there {
			return err
		}
		a, err := r.armed()
		if err != nil || !a.On {
			return err
		}
		if busy, err := s.d.busy(tx, planName); err != nil || busy >= a.AtOnce {
			return err
		}
		var first taskRow
		there = false
		query, args := s.d.waiting(planName)
		err = tx.Query(query, args, func(scan Scan) error {
			there = true
			return first.scan(scan)
		})
		if err != nil || !there {
			return err
		}
		p, err := readPlan(tx.Query, r.document)
		if err != nil {
			return err
		}
		a.Plan = *p
		take := plan.TakenBy(a, server, at)
		if out, err = first.task(); err != nil {
			return err
		}
		t := out
		if err := take(&t); err != nil {
			return err
		}
		all, err := nodes(t)
		if err != nil {
			return err
		}
		t, err = s.begin(tx, first, take, all)
		if err == nil {
			out, ok = t, true
		}
		return err
	})
	return out, ok && err == nil, err
}

// waiting is the statement that reads the pending task of a plan that is taken next.
func (d Dialect) waiting(planName string) (string, []any) {
	w := of("", d.all())
	w.and("plan = ? AND status = 'pending'", planName)
	return "SELECT " + taskColumns + " FROM plan_task WHERE " + w.String() + " ORDER BY place, n LIMIT 1" + d.Lock, w.args
}

// busy counts the tasks of a plan that are at work.
func (d Dialect) busy(tx Tx, planName string) (n int, err error) {
	query, args := d.atWork(planName)
	err = tx.Query(query, args, func(scan Scan) error { return scan(&n) })
	return n, err
}

// atWork is the statement of busy.
func (d Dialect) atWork(planName string) (string, []any) {
	w := of("", d.all())
	w.and("plan = ? AND status = ?", planName, string(plan.InProgress))
	return "SELECT count(*) FROM plan_task WHERE " + w.String(), w.args
}

// ChangeTask changes a task in one step.
func (s *Plans) ChangeTask(ctx context.Context, name string, fence int64, change func(*plan.Task) error) (plan.Task, error) {
	return s.change(ctx, name, fence, false, change)
}

// Supersede changes a task in one step and raises its fence.
func (s *Plans) Supersede(ctx context.Context, name string, change func(*plan.Task) error) (plan.Task, error) {
	return s.change(ctx, name, plan.Anyway, true, change)
}

func (s *Plans) change(ctx context.Context, name string, fence int64, take bool, change func(*plan.Task) error) (out plan.Task, err error) {
	late := false
	err = s.db.Write(ctx, rowSize, func(tx Tx) error {
		r, err := s.lock(tx, name)
		if err != nil {
			return err
		}
		old, err := whole(tx.Query, r)
		if err != nil {
			return err
		}
		if late = !plan.Holds(fence, old.Fence); late {
			return s.d.noteTask(tx, r.n, []plan.Event{plan.Fenced("", fence, old.Fence, s.now())})
		}
		t, events, err := plan.ChangedTask(old, take, change, s.now())
		if err != nil {
			return err
		}
		p, err := changedPlan(old, t)
		if err != nil {
			return err
		}
		if err := s.updateTask(tx, r.n, t, p); err != nil {
			return err
		}
		out = t
		failpoint.Hit("plan.change.row")
		return s.d.noteTask(tx, r.n, events)
	})
	if err == nil && late {
		err = work.ErrFence
	}
	if err != nil {
		return plan.Task{}, err
	}
	return out, nil
}

// Task finds one by name or id.
func (s *Plans) Task(ctx context.Context, ref string) (plan.Task, error) {
	r, err := s.row(ctx, ref)
	if err != nil {
		return plan.Task{}, err
	}
	return whole(s.outside(ctx), r)
}

// Tasks lists some. It asks for each status by itself: an index has each in the order of creation.
func (s *Plans) Tasks(ctx context.Context, q plan.TaskQuery) ([]plan.Task, error) {
	before := maxN
	if q.Before != "" {
		r, err := s.row(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		before = r.n
	}
	statuses := slices.Compact(slices.Sorted(slices.Values(q.Statuses)))
	if len(statuses) == 0 {
		statuses = []plan.Status{""}
		if q.Plan != "" {
			statuses = []plan.Status{plan.Proposed, plan.Pending, plan.InProgress, plan.Complete, plan.Failed, plan.Cancelled}
		}
	}
	type listed struct {
		taskRow
		place int64
	}
	var rows []listed
	for _, status := range statuses {
		query, args := s.d.tasks(q, status, before)
		err := s.db.Query(ctx, query, args, func(scan Scan) error {
			var r listed
			err := r.scan(func(to ...any) error { return scan(append(to, &r.place)...) })
			rows = append(rows, r)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rows, func(a, b listed) int {
		if q.Oldest {
			return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.n, b.n))
		}
		return cmp.Compare(b.n, a.n)
	})
	out := []plan.Task{}
	for _, r := range rows[:min(len(rows), q.Size())] {
		t, err := r.task()
		if err != nil {
			t = plan.DamagedTask(r.id, r.name)
		} else if q.Documents && r.document != nil {
			if t.Plan, err = readPlan(s.outside(ctx), *r.document); err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// tasks is the statement of Tasks for one status, "" for all.
func (d Dialect) tasks(q plan.TaskQuery, status plan.Status, before int64) (string, []any) {
	w := of("", d.all())
	plain := q.Session == "" && q.By == ""
	w.equal(Pair{"session", q.Session}, Pair{"author", string(q.By)})
	column := func(name string, indexed bool) string {
		if indexed {
			return name
		}
		return d.Aside + name
	}
	if q.Plan != "" {
		w.and(column("plan", plain)+" = ?", q.Plan)
	}
	switch {
	case status == plan.Pending && plain && q.Plan != "":
		w.and("status = 'pending'") // which an index is of
	case status != "":
		w.and(column("status", plain)+" = ?", string(status))
	}
	if q.Server != "" {
		w.and("server = ?", q.Server)
	}
	if !q.Since.IsZero() {
		w.and("created >= ?", micros(q.Since))
	}
	if !q.Oldest || before < maxN { // else an index has them in the order in which they are taken
		w.and("n < ?", before)
	}
	order := "n DESC"
	if q.Oldest {
		order = "place, n"
	}
	return "SELECT " + taskColumns + ", place FROM plan_task WHERE " + w.String() + " ORDER BY " + order + " LIMIT ?", append(w.args, q.Size())
}
