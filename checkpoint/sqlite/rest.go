package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

// BeginExecution stores a run that is about to start.
func (s *Store) BeginExecution(ctx context.Context, e thread.Execution) error {
	if e.ID == "" {
		return fmt.Errorf("execution without id: %w", thread.ErrInvalid)
	}
	return s.do(ctx, 4096, func(x *tx) error {
		return x.exec(`INSERT OR IGNORE INTO execution (id, thread, agent, session, pid, started, ended, code, reason)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			string(e.ID), string(e.Thread), e.Agent, e.Session, e.PID, sqlrow.Nanos(e.Started),
			sqlrow.Ended(e.Ended), e.Exit.Code, e.Exit.Reason)
	})
}

// UpdateExecution sets the process id and the session.
func (s *Store) UpdateExecution(ctx context.Context, id thread.ExecutionID, pid int, session string) error {
	return s.execution(ctx, id, "UPDATE execution SET pid = ?2, session = ?3 WHERE id = ?1", string(id), pid, session)
}

// EndExecution stores how a run ended; the first end counts.
func (s *Store) EndExecution(ctx context.Context, id thread.ExecutionID, at time.Time, exit thread.Exit) error {
	return s.execution(ctx, id, "UPDATE execution SET ended = ?2, code = ?3, reason = ?4 WHERE id = ?1 AND ended IS NULL",
		string(id), sqlrow.Nanos(at), exit.Code, exit.Reason)
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
	rows, err := s.read.QueryContext(ctx, `SELECT `+sqlrow.ExecutionColumns+` FROM execution
		WHERE ended IS NULL ORDER BY started, id`)
	if err != nil {
		return nil, s.health.translate(0, db(err))
	}
	out, err := collect(rows, sqlrow.Execution)
	return out, s.health.translate(0, err)
}

// PutIntent stores an intent, or its progress.
func (s *Store) PutIntent(ctx context.Context, i thread.Intent) error {
	if i.ID == "" {
		return fmt.Errorf("intent without id: %w", thread.ErrInvalid)
	}
	return s.do(ctx, int64(len(i.Data))+4096, func(x *tx) error {
		return x.exec(`INSERT INTO intent (id, kind, thread, data, created) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, thread = excluded.thread,
			data = excluded.data, created = excluded.created`,
			i.ID, i.Kind, string(i.Thread), []byte(i.Data), sqlrow.Nanos(i.Created))
	})
}

// DropIntent deletes an intent; one that does not exist is no error.
func (s *Store) DropIntent(ctx context.Context, id string) error {
	return s.do(ctx, 4096, func(x *tx) error { return x.exec("DELETE FROM intent WHERE id = ?", id) })
}

// Intents returns the stored intents, oldest first.
func (s *Store) Intents(ctx context.Context) ([]thread.Intent, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT "+sqlrow.IntentColumns+" FROM intent ORDER BY created, id")
	if err != nil {
		return nil, s.health.translate(0, db(err))
	}
	out, err := collect(rows, sqlrow.Intent)
	return out, s.health.translate(0, err)
}

// Setting returns a value, "" if it is not set.
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	var v string
	err := s.read.QueryRowContext(ctx, "SELECT value FROM setting WHERE key = ?", key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", s.health.translate(0, db(err))
	}
	return v, nil
}

// SetSetting sets a value; "" removes it.
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	return s.do(ctx, int64(len(value))+4096, func(x *tx) error {
		if value == "" {
			return x.exec("DELETE FROM setting WHERE key = ?", key)
		}
		return x.exec("INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
			key, value)
	})
}
