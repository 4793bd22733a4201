package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"orchestrator/checkpoint/sqlrow"
)

// tx is the write connection inside a transaction. Its errors are the database's.
type tx struct {
	ctx   context.Context // never ends: the end of a request must not roll others back
	db    *sql.DB
	stmts map[string]*sql.Stmt
	// changed is set by writes.
	changed bool
}

func newTx(db *sql.DB) *tx {
	return &tx{ctx: context.Background(), db: db, stmts: map[string]*sql.Stmt{}}
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if st := t.stmts[query]; st != nil {
		return st, nil
	}
	st, err := t.db.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, db(err)
	}
	t.stmts[query] = st
	return st, nil
}

func (t *tx) exec(query string, args ...any) error {
	st, err := t.stmt(query)
	if err != nil {
		return err
	}
	t.changed = true
	_, err = st.ExecContext(t.ctx, args...)
	return db(err)
}

// insert returns the new row's number.
func (t *tx) insert(query string, args ...any) (int64, error) {
	st, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	t.changed = true
	res, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, db(err)
	}
	n, err := res.LastInsertId()
	return n, db(err)
}

// row reads one row; found is false if there is none.
func (t *tx) row(query string, args []any, to ...any) (found bool, err error) {
	st, err := t.stmt(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(t.ctx, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, db(err)
}

// each reads rows; scan gets a function that scans the current one.
func (t *tx) each(query string, args []any, scan func(func(...any) error) error) error {
	st, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(t.ctx, args...)
	if err != nil {
		return db(err)
	}
	return each(rows, scan)
}

func each(rows *sql.Rows, scan func(func(...any) error) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return db(fmt.Errorf("read row: %w", err))
		}
	}
	return db(rows.Err())
}

// collect reads rows into a list.
func collect[T any](rows *sql.Rows, read func(sqlrow.Scan) (T, error)) ([]T, error) {
	var out []T
	err := each(rows, func(scan func(...any) error) error {
		v, err := read(scan)
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) rollback() {
	_ = t.exec("ROLLBACK") // SQLite may have done it already
}

func (t *tx) close() {
	for _, st := range t.stmts {
		_ = st.Close()
	}
}
