package workdb

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"time"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/workrow"
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

// Dialect is SQLite's: one transaction at a time writes, and the file is one project's.
func (f *file) Dialect() workrow.Dialect {
	return workrow.Dialect{
		Purging: "INSERT INTO work_purging (one) VALUES (1)", Purged: "DELETE FROM work_purging",
		Aside: "+", False: "0",
	}
}

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

// Exec runs a statement.
func (t *tx) Exec(query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, t.note(err)
	}
	n, err := res.RowsAffected()
	return n, t.note(err)
}

// Query runs a statement that returns rows.
func (t *tx) Query(query string, args []any, each func(workrow.Scan) error) error {
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		return t.note(err)
	}
	return gather(rows, t.note, each)
}

// Query reads outside of a transaction.
func (f *file) Query(ctx context.Context, query string, args []any, each func(workrow.Scan) error) error {
	rows, err := f.read.QueryContext(ctx, query, args...)
	if err != nil {
		return f.fail(0, err)
	}
	return gather(rows, func(err error) error { return f.fail(0, err) }, each)
}

// gather reads rows; fail gets the errors of the database. Those of each are returned as they are.
func gather(rows *sql.Rows, fail func(error) error, each func(workrow.Scan) error) error {
	defer rows.Close()
	scan := func(to ...any) error { return fail(rows.Scan(to...)) }
	for rows.Next() {
		if err := each(scan); err != nil {
			return err
		}
	}
	return fail(errors.Join(rows.Err(), rows.Close()))
}

// Shrink gives the space of what was removed back, some at a time.
func (f *file) Shrink(ctx context.Context) error {
	_, err := f.writer.ExecContext(ctx, "PRAGMA incremental_vacuum(4096)")
	return f.fail(0, err)
}

// Measure says how large the file and its log are. Who reads it SQLite does not tell: while somebody keeps a transaction open,
// the log grows.
func (f *file) Measure(_ context.Context, m *work.Measure) error {
	m.Log = sizeOf(f.path + "-wal")
	m.Bytes = sizeOf(f.path) + m.Log
	return nil
}

// sizeOf returns the size of a file, 0 if there is none.
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
