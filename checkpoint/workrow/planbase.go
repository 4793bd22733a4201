package workrow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Plans implements plan.Store over the same database. Each change of a task, or of what is the task's, locks the task's row
// first, so that two of one task follow on each other.
type Plans struct {
	db  DB
	d   Dialect
	now func() time.Time
}

var _ plan.Store = (*Plans)(nil)

// Plans returns the store of the tasks of plans in the same database.
func (s *Store) Plans() *Plans { return &Plans{db: s.db, d: s.d, now: s.now} }

// taskRow is a task as a table keeps it.
type taskRow struct {
	n        int64
	id, name string
	status   plan.Status
	document *int64
	sum, doc []byte
}

const taskColumns = "n, id, name, status, document, sum, doc"

func (r *taskRow) scan(scan Scan) error {
	return scan(&r.n, &r.id, &r.name, &r.status, &r.document, &r.sum, &r.doc)
}

// task reads a row without its plan; thread.ErrDamaged if its document does not match its hash or its columns.
func (r taskRow) task() (plan.Task, error) {
	var t plan.Task
	if !opened(r.sum, r.doc, &t) || t.ID != r.id || t.Name != r.name || t.Status != r.status {
		return plan.Task{}, thread.Hint(fmt.Errorf("task %s: %w", r.name, thread.ErrDamaged), "the others are not affected; run its plan again")
	}
	return t, nil
}

// planTaskPairs are the columns of a task, but for its name, its id and its plan.
func planTaskPairs(t plan.Task) ([]Pair, error) {
	t.Plan = nil
	doc, sum, err := document(t)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", t.Name, err)
	}
	return []Pair{{"status", string(t.Status)}, {"plan", t.PlanName}, {"place", int64(t.Order)}, {"session", t.Session}, {"server", t.Server},
		{"author", string(t.By)}, {"created", micros(t.Created)}, {"updated", micros(t.Updated)}, {"ended", optional(t.Ended)},
		{"sum", sum}, {"doc", doc}}, nil
}

func noTask(ref string) error { return fmt.Errorf("task %q: %w", ref, thread.ErrNotFound) }

// byTask is the statement that reads a task by its name or its id.
func (d Dialect) byTask(ref, lock string) (string, []any) {
	column := "name"
	if isUUID(ref) {
		column = "id"
	}
	w := of("", d.all())
	w.and(column+" = ?", ref)
	return "SELECT " + taskColumns + " FROM plan_task WHERE " + w.String() + lock, w.args
}

// isUUID reports whether a reference is an id: no name is like one.
func isUUID(ref string) bool {
	return len(ref) == 36 && ref[8] == '-' && ref[13] == '-' && ref[18] == '-' && ref[23] == '-'
}

// row finds the row of a task.
func (s *Plans) row(ctx context.Context, ref string) (r taskRow, err error) {
	there := false
	query, args := s.d.byTask(ref, "")
	err = s.db.Query(ctx, query, args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	if err == nil && !there {
		err = noTask(ref)
	}
	return r, err
}

// lock finds the row of a task in a transaction, and locks it.
func (s *Plans) lock(tx Tx, ref string) (r taskRow, err error) {
	there := false
	query, args := s.d.byTask(ref, s.d.Lock)
	err = tx.Query(query, args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	if err == nil && !there {
		err = noTask(ref)
	}
	return r, err
}

// query is what reads, in a transaction or outside of one.
type query func(query string, args []any, each func(Scan) error) error

func (s *Plans) outside(ctx context.Context) query {
	return func(q string, args []any, each func(Scan) error) error { return s.db.Query(ctx, q, args, each) }
}

// whole reads a task with its plan.
func whole(read query, r taskRow) (plan.Task, error) {
	t, err := r.task()
	if err != nil {
		return t, err
	}
	if r.document == nil {
		if !t.Started.IsZero() || t.Status == plan.InProgress {
			return plan.Task{}, thread.Hint(fmt.Errorf("the plan of %s: %w", r.name, thread.ErrDamaged), "run it again from its file")
		}
		return t, nil
	}
	t.Plan, err = readPlan(read, *r.document)
	return t, err
}

// packedPlan is a plan as a table keeps it.
type packedPlan struct {
	hash string
	size int
	data []byte
}

// packPlan makes the row of a plan; nil for none.
func packPlan(p *plan.Plan) (*packedPlan, error) {
	if p == nil {
		return nil, nil
	}
	doc, _, err := document(p)
	if err != nil {
		return nil, thread.Kindf(thread.ErrInvalid, "the plan cannot be stored: %w", err)
	}
	if len(doc) > plan.MaxDocument {
		return nil, thread.Kindf(thread.ErrInvalid, "the plan has %d bytes, the limit is %d", len(doc), plan.MaxDocument)
	}
	return &packedPlan{hash: work.PieceHash(doc), size: len(doc), data: theCodec().pack.EncodeAll(doc, nil)}, nil
}

// put stores a plan, unless it is stored, and returns its number. It stays at least until the transaction ends.
func (d Dialect) put(tx Tx, p *packedPlan) (n *int64, err error) {
	if p == nil {
		return nil, nil
	}
	n = new(int64)
	query, args := insertion("plan_document", "ON CONFLICT ("+names(d.Project)+"hash) DO UPDATE SET size = excluded.size RETURNING n", d.Project,
		[]Pair{{"hash", p.hash}, {"size", int64(p.size)}, {"data", p.data}})
	err = tx.Query(query, args, func(scan Scan) error { return scan(n) })
	return n, err
}

const onePlan = "SELECT hash, data FROM plan_document WHERE n = ?"

// readPlan reads a plan; thread.ErrDamaged if it does not match its hash.
func readPlan(read query, n int64) (*plan.Plan, error) {
	var p *plan.Plan
	err := read(onePlan, []any{n}, func(scan Scan) error {
		var hash string
		var data []byte
		if err := scan(&hash, &data); err != nil {
			return err
		}
		p = unpackPlan(hash, data)
		return nil
	})
	if err == nil && p == nil {
		err = fmt.Errorf("the plan of a task: %w", thread.ErrDamaged)
	}
	return p, err
}

// unpackPlan returns a plan; nil if it is damaged.
func unpackPlan(hash string, data []byte) *plan.Plan {
	doc, err := unpacked(hash, data)
	p := &plan.Plan{}
	if err != nil || json.Unmarshal(doc, p) != nil {
		return nil
	}
	return p
}

const (
	lastPlanEvent  = "SELECT coalesce(max(seq), 0) FROM plan_event WHERE task = ?"
	somePlanEvents = "SELECT seq, sum, doc FROM plan_event WHERE task = ? AND seq > ? ORDER BY seq LIMIT ?"
)

// noteTask adds events to a task whose row is locked.
func (d Dialect) noteTask(tx Tx, task int64, events []plan.Event) error {
	if len(events) == 0 {
		return nil
	}
	var last int64
	if err := tx.Query(lastPlanEvent, []any{task}, func(scan Scan) error { return scan(&last) }); err != nil {
		return err
	}
	rows := make([][]any, len(events))
	for i, e := range events {
		e.Seq = 0 // the row says it
		doc, sum, err := document(e)
		if err != nil {
			return err
		}
		last++
		rows[i] = []any{task, last, sum, doc}
	}
	return insertAll(tx, "plan_event (task, seq, sum, doc)", rows)
}

// insertAll adds rows to a table, some at a time.
func insertAll(tx Tx, table string, rows [][]any) error {
	for part := range slices.Chunk(rows, 100) {
		values, args := "", []any{}
		for _, r := range part {
			values += ", (" + marks(len(r)) + ")"
			args = append(args, r...)
		}
		if _, err := tx.Exec("INSERT INTO "+table+" VALUES "+values[2:], args...); err != nil {
			return err
		}
	}
	return nil
}

// Note adds events to a task.
func (s *Plans) Note(ctx context.Context, ref string, events ...plan.Event) error {
	noted, err := plan.Noted(events, s.now())
	if err != nil {
		return err
	}
	return s.db.Write(ctx, planSize(noted), func(tx Tx) error {
		r, err := s.lock(tx, ref)
		if err != nil {
			return err
		}
		return s.d.noteTask(tx, r.n, noted)
	})
}

// planSize is about what events take, with the row that changes with them.
func planSize(events []plan.Event) int64 {
	n := int64(rowSize)
	for _, e := range events {
		n += int64(len(e.Text)) + 256
	}
	return n
}

// Events returns events that follow on after, oldest first.
func (s *Plans) Events(ctx context.Context, ref string, after int64, limit int) ([]plan.Event, error) {
	r, err := s.row(ctx, ref)
	if err != nil {
		return nil, err
	}
	out := []plan.Event{}
	err = s.db.Query(ctx, somePlanEvents, []any{r.n, after, work.EventLimit(limit)}, func(scan Scan) error {
		var seq int64
		var sum, doc []byte
		if err := scan(&seq, &sum, &doc); err != nil {
			return err
		}
		var e plan.Event
		if !opened(sum, doc, &e) {
			e = plan.Event{Kind: plan.EventNote, Text: "this line of the record is damaged"}
		}
		e.Seq = seq
		out = append(out, e)
		return nil
	})
	return out, err
}
