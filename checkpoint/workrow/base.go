package workrow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Store implements work.Record over a database.
type Store struct {
	db  DB
	d   Dialect
	now func() time.Time
}

var _ work.Record = (*Store)(nil)

// New returns a store over a database, with a clock; time.Now if nil.
func New(db DB, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{db: db, d: db.Dialect(), now: now}
}

// rowSize is about what a row takes with its places in the indexes.
const rowSize = 4096

// maxN is larger than the number of any row.
const maxN = int64(1<<63 - 1)

// size is about what events take, with the row that changes with them.
func size(events []work.Event) int64 {
	n := int64(rowSize)
	for _, e := range events {
		n += int64(len(e.Text)) + 256
	}
	return n
}

func missing(ref string) error { return fmt.Errorf("run %q: %w", ref, thread.ErrNotFound) }

// next returns the next number of names with a prefix, or of rows, which is never given again.
func (d Dialect) next(tx Tx, prefix string) (n int64, err error) {
	query, args := insertion("work_number", "ON CONFLICT ("+names(d.Project)+"prefix) DO UPDATE SET last = work_number.last + 1 "+
		"RETURNING last", d.Project, []Pair{{"prefix", prefix}, {"last", int64(1)}})
	err = tx.Query(query, args, func(scan Scan) error { return scan(&n) })
	return n, err
}

// reached has a number not be given again.
func (d Dialect) reached(tx Tx, prefix string, n int64) error {
	query, args := insertion("work_number", "ON CONFLICT ("+names(d.Project)+"prefix) DO UPDATE SET last = "+
		"CASE WHEN excluded.last > work_number.last THEN excluded.last ELSE work_number.last END", d.Project,
		[]Pair{{"prefix", prefix}, {"last", n}})
	_, err := tx.Exec(query, args...)
	return err
}

// find reads the row of an execution in a transaction, and locks it; false if there is none.
func (s *Store) find(tx Tx, id work.ID) (r Row, there bool, err error) {
	w := of("", s.d.all())
	w.and("id = ?", string(id))
	err = tx.Query("SELECT "+Columns+" FROM work WHERE "+w.String()+s.d.Lock, w.args, func(scan Scan) error {
		there = true
		return r.Scan(scan)
	})
	return r, there, err
}

// get reads an execution in a transaction, and locks it.
func (s *Store) get(tx Tx, id work.ID) (Row, work.Execution, error) {
	r, there, err := s.find(tx, id)
	if err != nil {
		return r, work.Execution{}, err
	}
	if !there {
		return r, work.Execution{}, missing(string(id))
	}
	x, err := r.Execution()
	return r, x, err
}

// row finds the row of an execution by id or name.
func (s *Store) row(ctx context.Context, ref string) (r Row, err error) {
	for _, column := range []string{"id", "name"} {
		there := false
		query, args := s.d.byRef(column, ref)
		err = s.db.Query(ctx, query, args, func(scan Scan) error {
			there = true
			return r.Scan(scan)
		})
		if err != nil || there {
			return r, err
		}
	}
	return r, missing(ref)
}

func (d Dialect) byRef(column, ref string) (string, []any) {
	w := of("", d.all())
	w.and(column+" = ?", ref)
	return "SELECT " + Columns + " FROM work WHERE " + w.String(), w.args
}

// rows reads executions; what cannot be read is shown as damaged.
func (s *Store) rows(ctx context.Context, query string, args []any) ([]Row, error) {
	var out []Row
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var r Row
		err := r.Scan(scan)
		out = append(out, r)
		return err
	})
	return out, err
}

// shown reads rows for a list.
func shown(rows []Row) []work.Execution {
	out := make([]work.Execution, 0, len(rows))
	for _, r := range rows {
		x, err := r.Execution()
		if err != nil {
			x = work.Damaged(r.ID, r.Name, r.Thread)
		}
		out = append(out, x)
	}
	return out
}

// joined are the Columns of executions that facts select.
const joined = "SELECT w.n, w.id, w.name, w.thread, w.state, w.sum, w.doc FROM "

// numbered gives events their numbers after last, and tells the execution of them.
func numbered(x work.Execution, last int64, events []work.Event) (work.Execution, []EventRow, error) {
	rows := make([]EventRow, len(events))
	for i, e := range events {
		e.Seq = last + int64(i) + 1
		x = x.Noting(e)
		var err error
		if rows[i], err = PackEvent(e.Seq, e); err != nil {
			return x, nil, err
		}
	}
	return x, rows, nil
}

// last returns the number of the newest event of an execution, 0 if there is none.
func last(tx Tx, n int64) (seq int64, err error) {
	err = tx.Query(lastEvent, []any{n}, func(scan Scan) error { return scan(&seq) })
	return seq, err
}

const lastEvent = "SELECT coalesce(max(seq), 0) FROM work_event WHERE work = ?"

// note adds events to an execution.
func note(tx Tx, n int64, events []EventRow) error {
	for part := range slices.Chunk(events, 50) {
		values, args := "", []any{}
		for _, e := range part {
			values += ", (?, ?, ?, ?)"
			args = append(args, n, e.Seq, e.Sum, e.Doc)
		}
		if _, err := tx.Exec("INSERT INTO work_event (work, seq, sum, doc) VALUES "+values[2:], args...); err != nil {
			return err
		}
	}
	return nil
}
