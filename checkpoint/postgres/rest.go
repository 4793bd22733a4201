package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.tx(ctx, lockNone, func(ctx context.Context, x pgx.Tx) error {
		_, err := x.Exec(ctx, query, args...)
		return err
	})
}

// BeginExecution stores a run that is about to start.
func (s *Store) BeginExecution(ctx context.Context, e thread.Execution) error {
	if e.ID == "" {
		return fmt.Errorf("execution without id: %w", thread.ErrInvalid)
	}
	return s.exec(ctx, `
		INSERT INTO execution (project, host, id, thread, agent, session, pid, started, ended, code, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
		s.project, s.host, string(e.ID), string(e.Thread),
		e.Agent, e.Session, e.PID, sqlrow.Nanos(e.Started), sqlrow.Ended(e.Ended), e.Exit.Code, e.Exit.Reason)
}

// UpdateExecution sets the process id and the session.
func (s *Store) UpdateExecution(ctx context.Context, id thread.ExecutionID, pid int, session string) error {
	return s.execution(ctx, id, "UPDATE execution SET pid = $3, session = $4 WHERE project = $1 AND id = $2", pid, session)
}

// EndExecution stores how a run ended; the first end counts.
func (s *Store) EndExecution(ctx context.Context, id thread.ExecutionID, at time.Time, exit thread.Exit) error {
	return s.execution(ctx, id, `UPDATE execution SET ended = coalesce(ended, $3),
		code = CASE WHEN ended IS NULL THEN $4 ELSE code END,
		reason = CASE WHEN ended IS NULL THEN $5 ELSE reason END
		WHERE project = $1 AND id = $2`, sqlrow.Nanos(at), exit.Code, exit.Reason)
}

func (s *Store) execution(ctx context.Context, id thread.ExecutionID, update string, args ...any) error {
	return s.tx(ctx, lockNone, func(ctx context.Context, x pgx.Tx) error {
		tag, err := x.Exec(ctx, update, append([]any{s.project, string(id)}, args...)...)
		if err == nil && tag.RowsAffected() == 0 {
			err = fmt.Errorf("execution %s: %w", id, thread.ErrNotFound)
		}
		return err
	})
}

// OpenExecutions returns the runs on this host that never ended, oldest first.
func (s *Store) OpenExecutions(ctx context.Context) ([]thread.Execution, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT `+sqlrow.ExecutionColumns+` FROM execution
		WHERE project = $1 AND host = $2 AND ended IS NULL ORDER BY started, id`, s.project, s.host)
	if err != nil {
		return nil, s.translate(err)
	}
	out, err := pgx.CollectRows(rows, read(sqlrow.Execution))
	return out, s.translate(err)
}

// PutIntent stores an intent, or its progress.
func (s *Store) PutIntent(ctx context.Context, i thread.Intent) error {
	if i.ID == "" {
		return fmt.Errorf("intent without id: %w", thread.ErrInvalid)
	}
	return s.exec(ctx, `INSERT INTO intent (project, host, id, kind, thread, data, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (project, host, id) DO UPDATE SET kind = excluded.kind, thread = excluded.thread,
		data = excluded.data, created = excluded.created`,
		s.project, s.host, i.ID, i.Kind, string(i.Thread), []byte(i.Data), sqlrow.Nanos(i.Created))
}

// DropIntent deletes an intent; one that does not exist is no error.
func (s *Store) DropIntent(ctx context.Context, id string) error {
	return s.exec(ctx, "DELETE FROM intent WHERE project = $1 AND host = $2 AND id = $3", s.project, s.host, id)
}

// Intents returns the intents of this host, oldest first.
func (s *Store) Intents(ctx context.Context) ([]thread.Intent, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx,
		"SELECT "+sqlrow.IntentColumns+" FROM intent WHERE project = $1 AND host = $2 ORDER BY created, id", s.project,
		s.host)
	if err != nil {
		return nil, s.translate(err)
	}
	out, err := pgx.CollectRows(rows, read(sqlrow.Intent))
	return out, s.translate(err)
}

// Setting returns a value, "" if it is not set.
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	var v string
	err := s.pool.QueryRow(ctx, "SELECT value FROM setting WHERE project = $1 AND host = $2 AND key = $3", s.project,
		s.host, key).Scan(&v)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return v, s.translate(err)
}

// SetSetting sets a value; "" removes it.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	if value == "" {
		return s.exec(ctx, "DELETE FROM setting WHERE project = $1 AND host = $2 AND key = $3", s.project, s.host, key)
	}
	return s.exec(ctx, `INSERT INTO setting (project, host, key, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (project, host, key) DO UPDATE SET value = excluded.value`, s.project, s.host, key, value)
}

// Sizes is the size of the store's content, in bytes unless stated otherwise.
type Sizes struct {
	Threads     int // of this host, archived and deleted ones included
	Checkpoints int // of the project
	Content     int64
	Packed      int64
	Database    int64 // all tables with their indexes, of all projects
}

// Sizes returns the size of the store's content.
func (s *Store) Sizes(ctx context.Context) (Sizes, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	var z Sizes
	err := s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM thread WHERE project = $1 AND host = $2),
		count(*), coalesce(sum(raw), 0), coalesce(sum(length(data)), 0),
		(SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
			WHERE c.relnamespace = $3::regnamespace AND c.relkind = 'r')
		FROM checkpoint WHERE project = $1`, s.project, s.host, space).
		Scan(&z.Threads, &z.Checkpoints, &z.Content, &z.Packed, &z.Database)
	return z, s.translate(err)
}

// ThreadSizes returns the packed size of each thread's own checkpoints.
func (s *Store) ThreadSizes(ctx context.Context) (map[thread.ID]int64, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, `SELECT t.id, coalesce(sum(length(c.data)), 0) + max(length(t.doc))
		FROM thread t LEFT JOIN checkpoint c ON c.thread = t.n WHERE t.project = $1 AND t.host = $2
		GROUP BY t.n, t.id`, s.project, s.host)
	if err != nil {
		return nil, s.translate(err)
	}
	out := map[thread.ID]int64{}
	var id string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error { out[thread.ID(id)] = n; return nil })
	return out, s.translate(err)
}
