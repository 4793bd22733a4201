package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

type threadRow struct {
	n, seq int64
	t      thread.Thread
}

// CreateThread stores a new thread.
func (s *Store) CreateThread(ctx context.Context, t thread.Thread) error {
	if err := checkpoint.CheckThread(t); err != nil {
		return err
	}
	t = checkpoint.NormalThread(t)
	doc, sum, err := s.packer.Thread(t)
	if err != nil {
		return err
	}
	err = s.tx(ctx, lockShared, func(ctx context.Context, x pgx.Tx) error {
		if err := s.checkBases(ctx, x, t); err != nil {
			return err
		}
		tag, err := x.Exec(ctx,
			"INSERT INTO thread (project, host, id, name, sum, doc, rests, session) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
			s.project, s.host, string(t.ID), t.Name, sum, doc, rests(&t), restingSession(&t))
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		var id, name string
		err = x.QueryRow(ctx,
			`SELECT id, name FROM thread WHERE project = $1 AND (id = $2 OR name = $3)
			ORDER BY (id = $2 AND name = $3) DESC, name = $3 DESC LIMIT 1`,
			s.project, string(t.ID), t.Name).Scan(&id, &name)
		switch {
		case err != nil:
			return err
		case id == string(t.ID) && name == t.Name:
			return nil // a retry
		case name == t.Name:
			return fmt.Errorf("thread %q: %w", t.Name, thread.ErrNameTaken)
		default:
			return thread.Kindf(thread.ErrInvalid, "thread %s exists under another name", t.ID)
		}
	})
	return err
}

// checkBases checks that the checkpoints a thread is based on are stored.
func (s *Store) checkBases(ctx context.Context, x pgx.Tx, t thread.Thread) error {
	for _, id := range []thread.CheckpointID{t.Head, t.ForkPoint} {
		var there bool
		if id == "" {
			continue
		}
		err := x.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM checkpoint WHERE project = $1 AND id = $2)", s.project,
			string(id)).Scan(&there)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("thread %q: base checkpoint %s: %w", t.Name, id, thread.ErrNotFound)
		}
	}
	return nil
}

// UpdateThread changes a thread in one transaction.
func (s *Store) UpdateThread(
	ctx context.Context, id thread.ID, change func(*thread.Thread) error,
) (thread.Thread, error) {
	var out thread.Thread
	err := s.tx(ctx, lockShared, func(ctx context.Context, x pgx.Tx) error {
		row, err := s.lookup(ctx, x, id)
		if err != nil {
			return err
		}
		was := row.t
		t, err := checkpoint.ChangeThread(row.t, change)
		if err != nil {
			return &changeError{err}
		}
		if t.Head != was.Head || t.ForkPoint != was.ForkPoint {
			if err := s.checkBases(ctx, x, t); err != nil {
				return err
			}
		}
		row.t, out = t, t
		return s.save(ctx, x, row)
	})
	if err != nil {
		return thread.Thread{}, err
	}
	return out, nil
}

// lookup reads a thread of this host and locks its row.
func (s *Store) lookup(ctx context.Context, x pgx.Tx, id thread.ID) (threadRow, error) {
	var row threadRow
	var sum, doc []byte
	err := x.QueryRow(ctx, "SELECT n, seq, sum, doc FROM thread WHERE project = $1 AND host = $2 AND id = $3 FOR UPDATE",
		s.project, s.host, string(id)).
		Scan(&row.n, &row.seq, &sum, &doc)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return row, err
	}
	row.t, err = s.packer.OpenThread(id, doc, sum)
	return row, err
}

func (s *Store) save(ctx context.Context, x pgx.Tx, row threadRow) error {
	doc, sum, err := s.packer.Thread(row.t)
	if err != nil {
		return err
	}
	_, err = x.Exec(ctx, "UPDATE thread SET name = $1, seq = $2, sum = $3, doc = $4, rests = $5, session = $6 WHERE n = $7", row.t.Name,
		row.seq, sum, doc, rests(&row.t), restingSession(&row.t), row.n)
	if isTaken(err, "thread_project_name_key") {
		return fmt.Errorf("thread %q: %w", row.t.Name, thread.ErrNameTaken)
	}
	return err
}

// Thread returns one thread of this host.
func (s *Store) Thread(ctx context.Context, id thread.ID) (thread.Thread, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	var doc, sum []byte
	err := s.pool.QueryRow(ctx, "SELECT sum, doc FROM thread WHERE project = $1 AND host = $2 AND id = $3", s.project,
		s.host, string(id)).Scan(&sum, &doc)
	if errors.Is(err, pgx.ErrNoRows) {
		return thread.Thread{}, fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return thread.Thread{}, s.translate(err)
	}
	return s.packer.OpenThread(id, doc, sum)
}

// Threads returns all threads of this host, oldest first. A damaged record is left out: Thread returns its error, and
// one must not hide the others.
func (s *Store) Threads(ctx context.Context) ([]thread.Thread, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, "SELECT id, sum, doc FROM thread WHERE project = $1 AND host = $2 ORDER BY n",
		s.project, s.host)
	if err != nil {
		return nil, s.translate(err)
	}
	out := []thread.Thread{}
	var id string
	var sum, doc []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &sum, &doc}, func() error {
		if t, err := s.packer.OpenListed(thread.ID(id), doc, sum); err == nil {
			out = append(out, t)
		}
		return nil
	})
	if err != nil {
		return nil, s.translate(err)
	}
	return out, nil
}

// PurgeThread removes a thread and the checkpoints that nothing is based on any more.
func (s *Store) PurgeThread(ctx context.Context, id thread.ID) error {
	return s.tx(ctx, lockAlone, func(ctx context.Context, x pgx.Tx) error {
		var n int64
		err := x.QueryRow(ctx, "SELECT n FROM thread WHERE project = $1 AND host = $2 AND id = $3 FOR UPDATE", s.project,
			s.host, string(id)).Scan(&n)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
		}
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue("DELETE FROM thread WHERE n = $1", n)
		batch.Queue("INSERT INTO orphan (thread, project) VALUES ($1, $2) ON CONFLICT DO NOTHING", n, s.project)
		batch.Queue("DELETE FROM execution WHERE project = $1 AND thread = $2", s.project, string(id))
		batch.Queue("DELETE FROM prompt WHERE project = $1 AND thread = $2", s.project, string(id))
		if err := x.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return s.sweep(ctx, x)
	})
}

// sweep removes the checkpoints of purged threads, except those that other threads are based on.
func (s *Store) sweep(ctx context.Context, x pgx.Tx) error {
	w := pack.NewSweep()
	var n, parent int64
	var id string
	rows, err := x.Query(ctx,
		`SELECT c.n, c.parent, c.id FROM checkpoint c JOIN orphan o ON o.thread = c.thread WHERE o.project = $1`,
		s.project)
	if err != nil {
		return err
	}
	if _, err := pgx.ForEachRow(rows, []any{&n, &parent, &id}, func() error {
		w.Add(n, parent, thread.CheckpointID(id))
		return nil
	}); err != nil {
		return err
	}
	var doc, sum []byte
	if rows, err = x.Query(ctx, "SELECT id, sum, doc FROM thread WHERE project = $1", s.project); err != nil {
		return err
	}
	if _, err := pgx.ForEachRow(rows, []any{&id, &sum, &doc}, func() error {
		// The checkpoints of a damaged thread keep their own ancestors.
		if t, err := s.packer.OpenThread(thread.ID(id), doc, sum); err == nil {
			w.KeepIDs(checkpoint.Bases(t))
		}
		return nil
	}); err != nil {
		return err
	}
	if rows, err = x.Query(ctx, `SELECT parent FROM checkpoint c WHERE project = $1 AND fork
		AND NOT EXISTS (SELECT 1 FROM orphan o WHERE o.thread = c.thread)`, s.project); err != nil {
		return err
	}
	if _, err := pgx.ForEachRow(rows, []any{&n}, func() error { w.Keep(n); return nil }); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue("DELETE FROM checkpoint WHERE n = ANY($1)", w.Rest())
	batch.Queue(
		"DELETE FROM orphan o WHERE project = $1 AND NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.thread = o.thread)",
		s.project)
	return x.SendBatch(ctx, batch).Close()
}
