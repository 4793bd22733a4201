package workdb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mattn/go-sqlite3"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/private"
	"orchestrator/thread/work"
)

// file implements workrow.DB.
type file struct {
	dir  *private.Folder
	path string
	lock time.Duration

	writer *sql.DB // one connection
	read   *sql.DB
}

var _ workrow.DB = (*file)(nil)

// changeError is what a change returned: it is no error of the database.
type changeError struct{ err error }

func (e *changeError) Error() string { return e.err.Error() }
func (e *changeError) Unwrap() error { return e.err }

// Write runs a change in a transaction that has the write lock from its beginning. The end of ctx ends the wait for that
// lock, not a change that has begun.
func (f *file) Write(ctx context.Context, need int64, change func(workrow.Tx) error) error {
	var t *sql.Tx
	whole := context.WithoutCancel(ctx)
	err := sqlfile.Patiently(ctx, f.lock, func() (err error) {
		if err := ctx.Err(); err != nil {
			return &changeError{err}
		}
		t, err = f.writer.BeginTx(whole, nil)
		return err
	})
	if err == nil {
		err = within(whole, t, change)
	}
	var c *changeError
	if errors.As(err, &c) {
		return c.err
	}
	if err != nil && err == ctx.Err() { //nolint:errorlint // while it waited
		return err
	}
	return f.fail(need, err)
}

// within runs a change in a transaction and commits it, or rolls it back: also if it panics.
func within(ctx context.Context, t *sql.Tx, change func(workrow.Tx) error) error {
	defer func() { _ = t.Rollback() }() // after a commit it does nothing
	x := &tx{ctx: ctx, tx: t}
	if err := change(x); err != nil {
		if x.failed != nil {
			return x.failed
		}
		return &changeError{err}
	}
	failpoint.Hit("workdb.commit.before")
	if err := t.Commit(); err != nil {
		return err
	}
	failpoint.Hit("workdb.commit.after")
	return nil
}

// fail translates an error of the database. After damage the next start sets the file aside.
func (f *file) fail(need int64, err error) error {
	if sqlfile.IsDamage(err) {
		suspect(f.dir, f.path, err)
	}
	return sqlfile.Translate(f.path, need, err)
}

// tx implements workrow.Tx.
type tx struct {
	ctx    context.Context // of the transaction, for its time
	tx     *sql.Tx
	failed error // the database's
}

// note keeps the database's own error.
func (t *tx) note(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

func (t *tx) Find(id work.ID) (workrow.Row, bool, error) {
	var r workrow.Row
	err := r.Scan(t.tx.QueryRowContext(t.ctx, byID, string(id)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, t.note(err)
}

func (t *tx) Number() (int64, error) {
	var n int64
	err := t.tx.QueryRowContext(t.ctx, "UPDATE number SET last = last + 1 WHERE one = 1 RETURNING last").Scan(&n)
	return n, t.note(err)
}

func (t *tx) Insert(r workrow.Row) (int64, bool, error) {
	res, err := t.tx.ExecContext(t.ctx, "INSERT INTO execution (id, name, thread, state, sum, doc) VALUES (?, ?, ?, ?, ?, ?)",
		string(r.ID), r.Name, string(r.Thread), string(r.State), r.Sum, r.Doc)
	var e sqlite3.Error
	if errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrConstraintUnique {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, t.note(err)
	}
	n, err := res.LastInsertId()
	return n, true, t.note(err)
}

func (t *tx) Update(r workrow.Row) error {
	_, err := t.tx.ExecContext(t.ctx, "UPDATE execution SET state = ?, sum = ?, doc = ? WHERE n = ?", string(r.State), r.Sum,
		r.Doc, r.N)
	return t.note(err)
}

const lastOf = "SELECT coalesce(max(seq), 0) FROM event WHERE execution = ?"

func (t *tx) Last(n int64) (int64, error) {
	var last int64
	err := t.tx.QueryRowContext(t.ctx, lastOf, n).Scan(&last)
	return last, t.note(err)
}

func (t *tx) Note(n int64, events []workrow.EventRow) error {
	for _, e := range events {
		_, err := t.tx.ExecContext(t.ctx, "INSERT INTO event (execution, seq, sum, doc) VALUES (?, ?, ?, ?)", n, e.Seq, e.Sum, e.Doc)
		if err != nil {
			return t.note(err)
		}
	}
	return nil
}

// all reads rows that a condition selects.
const all = "SELECT " + workrow.Columns + " FROM execution WHERE "

// Find reads one by id or name.
func (f *file) Find(ctx context.Context, ref string) (workrow.Row, bool, error) {
	for _, query := range []string{byID, byName} {
		rows, err := f.rows(ctx, query, ref)
		if err != nil || len(rows) > 0 {
			return append(rows, workrow.Row{})[0], err == nil, err
		}
	}
	return workrow.Row{}, false, nil
}

const (
	byID   = all + "id = ?"
	byName = all + "name = ?"
)

// Select reads rows, newest first, in the order of an index.
func (f *file) Select(ctx context.Context, s workrow.Select) ([]workrow.Row, error) {
	query, args := selection(s)
	return f.rows(ctx, query, args...)
}

// selection is the statement of Select, with its values. Of a thread and a state it goes through the executions of the
// thread, which are few, and not through all of the state: the plus keeps the state's index out.
func selection(s workrow.Select) (query string, args []any) {
	switch {
	case s.Thread != "" && s.State != "":
		query, args = all+"thread = ? AND +state = ?", []any{string(s.Thread), string(s.State)}
	case s.Thread != "":
		query, args = all+"thread = ?", []any{string(s.Thread)}
	case s.State != "":
		query, args = all+"state = ?", []any{string(s.State)}
	default:
		query = all + "1"
	}
	return query + " AND n < ? ORDER BY n DESC LIMIT ?", append(args, s.Before, s.Limit)
}

// Open reads those that are not final, oldest first.
func (f *file) Open(ctx context.Context) ([]workrow.Row, error) {
	query, args := unended()
	return f.rows(ctx, query, args...)
}

// unended is the statement of Open, with its values.
func unended() (query string, args []any) {
	marks := ""
	for _, s := range work.OpenStates() {
		args = append(args, string(s))
		marks += ", ?"
	}
	return all + "state IN (" + marks[2:] + ") ORDER BY n", args
}

func (f *file) rows(ctx context.Context, query string, args ...any) ([]workrow.Row, error) {
	return collect(ctx, f, func(scan func(...any) error) (r workrow.Row, err error) { err = r.Scan(scan); return r, err },
		query, args...)
}

// Events reads events, oldest first.
func (f *file) Events(ctx context.Context, n, after int64, limit int) ([]workrow.EventRow, error) {
	return collect(ctx, f, func(scan func(...any) error) (e workrow.EventRow, err error) {
		err = scan(&e.Seq, &e.Sum, &e.Doc)
		return e, err
	}, eventsOf, n, after, limit)
}

const eventsOf = "SELECT seq, sum, doc FROM event WHERE execution = ? AND seq > ? ORDER BY seq LIMIT ?"

// collect reads rows into a list.
func collect[T any](
	ctx context.Context, f *file, read func(scan func(...any) error) (T, error), query string, args ...any,
) ([]T, error) {
	rows, err := f.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, f.fail(0, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := read(rows.Scan)
		if err != nil {
			return nil, f.fail(0, err)
		}
		out = append(out, v)
	}
	return out, f.fail(0, rows.Err())
}

const removeEvents = "DELETE FROM event WHERE execution = ?"

// purgeBatch is how many executions are removed in one transaction: others write in between.
const purgeBatch = 20

// Purge removes the final executions of threads with their events.
func (f *file) Purge(ctx context.Context, threads []thread.ID) (int, error) {
	removed := 0
	for _, id := range threads {
		rows, err := f.rows(ctx, all+"thread = ?", string(id))
		if err != nil {
			return removed, err
		}
		for len(rows) > 0 {
			part := rows[:min(len(rows), purgeBatch)]
			rows = rows[len(part):]
			n, err := f.purge(ctx, part)
			if removed += n; err != nil {
				return removed, err
			}
		}
	}
	if removed > 0 {
		_, err := f.writer.ExecContext(ctx, "PRAGMA incremental_vacuum(4096)")
		return removed, f.fail(0, err)
	}
	return 0, nil
}

// purge removes those of some rows that are final, in one transaction.
func (f *file) purge(ctx context.Context, rows []workrow.Row) (removed int, err error) {
	err = f.Write(ctx, 0, func(t workrow.Tx) error {
		x := t.(*tx) //nolint:forcetypeassert // ours
		for _, r := range rows {
			now, there, err := x.Find(r.ID)
			if err != nil {
				return err
			}
			if !there || !now.State.Final() {
				continue
			}
			for _, query := range []string{"INSERT INTO purging (execution) VALUES (?)", removeEvents,
				"DELETE FROM execution WHERE n = ?", "DELETE FROM purging WHERE execution = ?"} {
				if _, err := x.tx.ExecContext(x.ctx, query, r.N); err != nil {
					return x.note(err)
				}
			}
			removed++
		}
		return nil
	})
	if err != nil {
		removed = 0
	}
	return removed, err
}
