package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"orchestrator/thread/failpoint"
)

// migrating is the advisory lock under which one server at a time migrates; transactions lock with it and the project's
// number.
const migrating = 0x6f726368

// limited bounds a call. It ends at once when the database goes away, and fails at once while it is.
func (s *Store) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.presence.bound(ctx, s.limit)
}

// lockKind is how a transaction takes the project's lock.
type lockKind string

const (
	lockNone   lockKind = ""
	lockShared lockKind = "SELECT pg_advisory_xact_lock_shared($1, $2)"
	lockAlone  lockKind = "SELECT pg_advisory_xact_lock($1, $2)"
)

// tx runs a change in one transaction, with a context that ends with the call's limit.
func (s *Store) tx(ctx context.Context, lock lockKind, change func(context.Context, pgx.Tx) error) error {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	work := func(t pgx.Tx) error {
		if lock != lockNone {
			if _, err := t.Exec(ctx, string(lock), int32(migrating), int32(s.project)); err != nil { // few projects
				return err
			}
		}
		if err := change(ctx, t); err != nil {
			return err
		}
		failpoint.Hit("postgres.commit.before")
		return nil
	}
	err := pgx.BeginFunc(ctx, s.pool, work)
	if pgconn.SafeToRetry(err) { // the connection was gone before anything was sent on it
		err = pgx.BeginFunc(ctx, s.pool, work)
	}
	failpoint.Hit("postgres.commit.after")
	var e *changeError
	if errors.As(err, &e) {
		return e.err
	}
	return s.translate(err)
}
