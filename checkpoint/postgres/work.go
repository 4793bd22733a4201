package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"orchestrator/checkpoint/workrow"
	"orchestrator/thread/work"
)

// Work returns the project's record of work of this host, with a clock; time.Now if nil. It lies in the same database and
// ends with the store.
func (s *Store) Work(now func() time.Time) *workrow.Store { return workrow.New(works{s}, now) }

// works implements workrow.DB. Names, their numbers and bundles are the project's, everything else is this host's.
type works struct{ s *Store }

var _ workrow.DB = works{}

// Dialect is PostgreSQL's, where many write at once.
func (w works) Dialect() workrow.Dialect {
	return workrow.Dialect{
		Project: []workrow.Pair{{Column: "project", Value: w.s.project}}, Host: []workrow.Pair{{Column: "host", Value: w.s.host}},
		Lock: " FOR UPDATE", Share: " FOR SHARE",
		Purging: "SET LOCAL orchestrator.purging = 'yes'", Purged: "SET LOCAL orchestrator.purging = 'no'",
		False: "FALSE", Bytewise: ` COLLATE "C"`,
		Alone: "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
	}
}

// conflicts is how often a change is tried that the database takes back since another stood in its way: a deadlock, or what
// cannot be put in an order.
const conflicts = 5

// Write runs a change in a transaction.
func (w works) Write(ctx context.Context, _ int64, change func(workrow.Tx) error) (err error) {
	for range conflicts {
		var e *pgconn.PgError
		if err = w.write(ctx, change); !errors.As(err, &e) || e.Code != "40P01" && e.Code != "40001" {
			break
		}
	}
	return err
}

func (w works) write(ctx context.Context, change func(workrow.Tx) error) error {
	return w.s.tx(ctx, lockNone, func(ctx context.Context, t pgx.Tx) error {
		x := &workTx{ctx: ctx, tx: t}
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
	failed error // the database's
}

// note keeps the database's own error.
func (t *workTx) note(err error) error {
	if err != nil && t.failed == nil {
		t.failed = err
	}
	return err
}

// Exec runs a statement.
func (t *workTx) Exec(query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(t.ctx, numbered(query), plainArgs(args)...)
	return tag.RowsAffected(), t.note(err)
}

// Query runs a statement that returns rows.
func (t *workTx) Query(query string, args []any, each func(workrow.Scan) error) error {
	rows, err := t.tx.Query(t.ctx, numbered(query), plainArgs(args)...)
	if err != nil {
		return t.note(err)
	}
	return gather(rows, t.note, each)
}

// Query reads outside of a transaction.
func (w works) Query(ctx context.Context, query string, args []any, each func(workrow.Scan) error) error {
	ctx, cancel := w.s.limited(ctx)
	defer cancel()
	rows, err := w.s.pool.Query(ctx, numbered(query), plainArgs(args)...)
	if err != nil {
		return w.s.translate(err)
	}
	return gather(rows, w.s.translate, each)
}

// gather reads rows; fail gets the errors of the database. Those of each are returned as they are.
func gather(rows pgx.Rows, fail func(error) error, each func(workrow.Scan) error) error {
	defer rows.Close()
	scan := func(to ...any) error { return fail(rows.Scan(to...)) }
	for rows.Next() {
		if err := each(scan); err != nil {
			return err
		}
	}
	return fail(rows.Err())
}

// Shrink does nothing: the database's own autovacuum does.
func (works) Shrink(context.Context) error { return nil }

// Measure says how large the tables are, and who keeps a transaction open.
func (w works) Measure(ctx context.Context, m *work.Measure) error {
	err := w.Query(ctx, `SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS BIGINT) FROM pg_class c
		WHERE c.relnamespace = CAST(? AS regnamespace) AND c.relkind = 'r' AND (starts_with(c.relname, 'work') OR starts_with(c.relname, 'plan'))`, []any{space},
		func(scan workrow.Scan) error { return scan(&m.Bytes) })
	if err != nil {
		return err
	}
	return w.Query(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
		AND xact_start < now() - interval '1 minute'`, nil, func(scan workrow.Scan) error { return scan(&m.Readers) })
}

// numbered returns a statement with its question marks as PostgreSQL has them.
func numbered(query string) string {
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(query, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}

// plainArgs returns values of which each text is one that a column can have.
func plainArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if s, ok := a.(string); ok {
			a = plain(s)
		}
		out[i] = a
	}
	return out
}

// plain returns what a text column can be compared with: PostgreSQL takes no NUL and nothing that is not UTF-8, and no
// column has either.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
