package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/workrow"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Work returns the project's executions of this host, with a clock; time.Now if nil. They lie in the same database and
// end with the store.
func (s *Store) Work(now func() time.Time) *workrow.Store { return workrow.New(works{s}, now) }

// works implements workrow.DB. Names and their numbers are the project's, everything else is this host's.
type works struct{ s *Store }

var _ workrow.DB = works{}

// Write runs a change in a transaction.
func (w works) Write(ctx context.Context, _ int64, change func(workrow.Tx) error) error {
	return w.s.tx(ctx, lockNone, func(ctx context.Context, t pgx.Tx) error {
		x := &workTx{ctx: ctx, tx: t, s: w.s}
		err := change(x)
		switch {
		case err == nil:
			return nil
		case x.failed != nil:
			return x.failed
		default:
			return &changeError{err}
		}
	})
}

// workTx implements workrow.Tx.
type workTx struct {
	ctx    context.Context // of the transaction, for its time
	tx     pgx.Tx
	s      *Store
	failed error // the database's
}

// note keeps the database's own error.
func (t *workTx) note(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// Find reads a row and locks it, so that the events of an execution are numbered one after the other.
func (t *workTx) Find(id work.ID) (workrow.Row, bool, error) {
	var r workrow.Row
	err := r.Scan(t.tx.QueryRow(t.ctx, "SELECT "+workrow.Columns+` FROM work WHERE project = $1 AND host = $2 AND id = $3
		FOR UPDATE`, t.s.project, t.s.host, plain(string(id))).Scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, t.note(err)
}

func (t *workTx) Number() (int64, error) {
	var n int64
	err := t.tx.QueryRow(t.ctx, `INSERT INTO work_number (project, last) VALUES ($1, 1)
		ON CONFLICT (project) DO UPDATE SET last = work_number.last + 1 RETURNING last`, t.s.project).Scan(&n)
	return n, t.note(err)
}

func (t *workTx) Insert(r workrow.Row) (int64, bool, error) {
	var n int64
	err := t.tx.QueryRow(t.ctx, `INSERT INTO work (project, host, id, name, thread, state, sum, doc)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING n`, t.s.project, t.s.host, string(r.ID), r.Name,
		string(r.Thread), string(r.State), r.Sum, r.Doc).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return n, err == nil, t.note(err)
}

func (t *workTx) Update(r workrow.Row) error {
	_, err := t.tx.Exec(t.ctx, "UPDATE work SET state = $2, sum = $3, doc = $4 WHERE n = $1", r.N, string(r.State), r.Sum, r.Doc)
	return t.note(err)
}

func (t *workTx) Last(n int64) (int64, error) {
	var last int64
	err := t.tx.QueryRow(t.ctx, "SELECT coalesce(max(seq), 0) FROM work_event WHERE work = $1", n).Scan(&last)
	return last, t.note(err)
}

func (t *workTx) Note(n int64, events []workrow.EventRow) error {
	var b pgx.Batch // one round trip
	for _, e := range events {
		b.Queue("INSERT INTO work_event (work, seq, sum, doc) VALUES ($1, $2, $3, $4)", n, e.Seq, e.Sum, e.Doc)
	}
	return t.note(t.tx.SendBatch(t.ctx, &b).Close())
}

// Find reads one by id or name.
func (w works) Find(ctx context.Context, ref string) (workrow.Row, bool, error) {
	for _, column := range []string{"id", "name"} {
		rows, err := w.rows(ctx, "AND "+column+" = $3", plain(ref))
		if err != nil || len(rows) > 0 {
			return append(rows, workrow.Row{})[0], err == nil, err
		}
	}
	return workrow.Row{}, false, nil
}

// Select reads rows, newest first.
func (w works) Select(ctx context.Context, s workrow.Select) ([]workrow.Row, error) {
	query, args := "AND n < $3", []any{s.Before, s.Limit}
	if s.Thread != "" {
		query, args = query+" AND thread = $5", append(args, plain(string(s.Thread)))
	}
	switch {
	case s.State != "" && s.Thread != "":
		query, args = query+" AND state = $6", append(args, plain(string(s.State)))
	case s.State != "":
		query, args = query+" AND state = $5", append(args, plain(string(s.State)))
	}
	return w.rows(ctx, query+" ORDER BY n DESC LIMIT $4", args...)
}

// Open reads those that are not final, oldest first.
func (w works) Open(ctx context.Context) ([]workrow.Row, error) {
	return w.rows(ctx, "AND state = ANY($3) ORDER BY n", states(false))
}

// states lists the states that are final, or those that are not.
func states(final bool) []string {
	var out []string
	for _, s := range work.States() {
		if s.Final() == final {
			out = append(out, string(s))
		}
	}
	return out
}

// rows reads rows of this host that a condition selects.
func (w works) rows(ctx context.Context, where string, args ...any) ([]workrow.Row, error) {
	return gather(ctx, w.s, func(row pgx.CollectableRow) (r workrow.Row, err error) { err = r.Scan(row.Scan); return r, err },
		"SELECT "+workrow.Columns+" FROM work WHERE project = $1 AND host = $2 "+where,
		append([]any{w.s.project, w.s.host}, args...)...)
}

// Events reads events, oldest first.
func (w works) Events(ctx context.Context, n, after int64, limit int) ([]workrow.EventRow, error) {
	return gather(ctx, w.s, func(row pgx.CollectableRow) (e workrow.EventRow, err error) {
		err = row.Scan(&e.Seq, &e.Sum, &e.Doc)
		return e, err
	}, "SELECT seq, sum, doc FROM work_event WHERE work = $1 AND seq > $2 ORDER BY seq LIMIT $3", n, after, limit)
}

// gather reads rows into a list.
func gather[T any](ctx context.Context, s *Store, read pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, s.translate(err)
	}
	out, err := pgx.CollectRows(rows, read)
	return out, s.translate(err)
}

// purgeBatch is how many executions are removed in one transaction: others write in between.
const purgeBatch = 20

// Purge removes the final executions of threads with their events.
func (w works) Purge(ctx context.Context, threads []thread.ID) (int, error) {
	of := make([]string, len(threads))
	for i, id := range threads {
		of[i] = plain(string(id))
	}
	removed := 0
	for {
		n, err := w.purge(ctx, of)
		if removed += n; err != nil || n < purgeBatch {
			return removed, err
		}
	}
}

func (w works) purge(ctx context.Context, threads []string) (n int, err error) {
	err = w.s.tx(ctx, lockNone, func(ctx context.Context, t pgx.Tx) error {
		rows, err := t.Query(ctx, `SELECT n FROM work WHERE project = $1 AND host = $2 AND thread = ANY($3) AND state = ANY($4)
			ORDER BY n LIMIT $5 FOR UPDATE`, w.s.project, w.s.host, threads, states(true), purgeBatch)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(gone) == 0 {
			return err
		}
		n = len(gone)
		if _, err := t.Exec(ctx, "SET LOCAL orchestrator.purging = 'yes'"); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, "DELETE FROM work_event WHERE work = ANY($1)", gone); err != nil {
			return err
		}
		_, err = t.Exec(ctx, "DELETE FROM work WHERE n = ANY($1)", gone)
		return err
	})
	if err != nil {
		n = 0
	}
	return n, err
}

// plain returns what a text column can be compared with: PostgreSQL takes no NUL and nothing that is not UTF-8, and no
// column has either.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
