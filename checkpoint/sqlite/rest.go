package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
)

// nanos is how times are stored: 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// BeginExecution stores a run that is about to start.
func (s *Store) BeginExecution(ctx context.Context, e thread.Execution) error {
	if e.ID == "" {
		return fmt.Errorf("execution without id: %w", thread.ErrInvalid)
	}
	var ended any // null while it runs
	if !e.Ended.IsZero() {
		ended = nanos(e.Ended)
	}
	return s.do(ctx, 4096, func(x *tx) error {
		return x.exec(`INSERT OR IGNORE INTO execution (id, thread, agent, session, pid, started, ended, code, reason)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(e.ID), string(e.Thread), e.Agent, e.Session, e.PID, nanos(e.Started),
			ended, e.Exit.Code, e.Exit.Reason)
	})
}

// UpdateExecution sets the process id and the session.
func (s *Store) UpdateExecution(ctx context.Context, id thread.ExecutionID, pid int, session string) error {
	return s.execution(ctx, id, "UPDATE execution SET pid = ?2, session = ?3 WHERE id = ?1", string(id), pid, session)
}

// EndExecution stores how a run ended; the first end stands.
func (s *Store) EndExecution(ctx context.Context, id thread.ExecutionID, at time.Time, exit thread.Exit) error {
	return s.execution(ctx, id, "UPDATE execution SET ended = ?2, code = ?3, reason = ?4 WHERE id = ?1 AND ended IS NULL",
		string(id), nanos(at), exit.Code, exit.Reason)
}

func (s *Store) execution(ctx context.Context, id thread.ExecutionID, update string, args ...any) error {
	return s.do(ctx, 4096, func(x *tx) error {
		var there string
		found, err := x.row("SELECT id FROM execution WHERE id = ?", []any{string(id)}, &there)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("execution %s: %w", id, thread.ErrNotFound)
		}
		return x.exec(update, args...)
	})
}

// OpenExecutions returns the runs that never ended, oldest first.
func (s *Store) OpenExecutions(ctx context.Context) ([]thread.Execution, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, thread, agent, session, pid, started FROM execution
		WHERE ended IS NULL ORDER BY started, id`)
	if err != nil {
		return nil, translate(s.path, 0, db(err))
	}
	var out []thread.Execution
	err = each(rows, func(scan func(...any) error) error {
		var e thread.Execution
		var started int64
		err := scan(&e.ID, &e.Thread, &e.Agent, &e.Session, &e.PID, &started)
		e.Started = fromNanos(started)
		out = append(out, e)
		return err
	})
	return out, translate(s.path, 0, err)
}

// PutIntent stores an operation that was begun, or how far it got.
func (s *Store) PutIntent(ctx context.Context, i thread.Intent) error {
	if i.ID == "" {
		return fmt.Errorf("intent without id: %w", thread.ErrInvalid)
	}
	return s.do(ctx, int64(len(i.Data))+4096, func(x *tx) error {
		return x.exec(`INSERT INTO intent (id, kind, thread, data, created) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, thread = excluded.thread, data = excluded.data, created = excluded.created`,
			i.ID, i.Kind, string(i.Thread), []byte(i.Data), nanos(i.Created))
	})
}

// DropIntent forgets an operation; one that is not there is dropped already.
func (s *Store) DropIntent(ctx context.Context, id string) error {
	return s.do(ctx, 4096, func(x *tx) error { return x.exec("DELETE FROM intent WHERE id = ?", id) })
}

// Intents returns the operations that were begun, oldest first.
func (s *Store) Intents(ctx context.Context) ([]thread.Intent, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT id, kind, thread, data, created FROM intent ORDER BY created, id")
	if err != nil {
		return nil, translate(s.path, 0, db(err))
	}
	var out []thread.Intent
	err = each(rows, func(scan func(...any) error) error {
		var i thread.Intent
		var data []byte
		var created int64
		err := scan(&i.ID, &i.Kind, &i.Thread, &data, &created)
		i.Data, i.Created = data, fromNanos(created)
		out = append(out, i)
		return err
	})
	return out, translate(s.path, 0, err)
}

// Setting returns a value, "" when it is not set.
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	var v string
	err := s.read.QueryRowContext(ctx, "SELECT value FROM setting WHERE key = ?", key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", translate(s.path, 0, db(err))
	}
	return v, nil
}

// SetSetting sets a value; "" removes it.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.do(ctx, int64(len(value))+4096, func(x *tx) error {
		if value == "" {
			return x.exec("DELETE FROM setting WHERE key = ?", key)
		}
		return x.exec("INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
	})
}
