package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

// threadRow is a thread as it is stored.
type threadRow struct {
	n   int64
	seq int64
	t   thread.Thread
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
	return s.do(ctx, int64(len(doc)), func(x *tx) error {
		var id, name string
		for _, q := range []struct{ query, arg string }{
			{"SELECT id, name FROM thread WHERE id = ?", string(t.ID)}, {"SELECT id, name FROM thread WHERE name = ?", t.Name},
		} {
			found, err := x.row(q.query, []any{q.arg}, &id, &name)
			switch {
			case err != nil:
				return err
			case found && id == string(t.ID) && name == t.Name:
				return nil // a retry
			case found && name == t.Name:
				return fmt.Errorf("thread %q: %w", t.Name, thread.ErrNameTaken)
			case found:
				return thread.Kindf(thread.ErrInvalid, "thread %s exists under another name", t.ID)
			}
		}
		if err := checkBases(x, t); err != nil {
			return err
		}
		if err := x.exec("INSERT INTO thread (id, name, sum, doc) VALUES (?, ?, ?, ?)", string(t.ID), t.Name, sum, doc); err != nil {
			return err
		}
		var n int64
		if _, err := x.row("SELECT n FROM thread WHERE id = ?", []any{string(t.ID)}, &n); err != nil {
			return err
		}
		return use(x, n, &t)
	})
}

// checkBases checks that the checkpoints a thread is based on are stored.
func checkBases(x *tx, t thread.Thread) error {
	for _, id := range []thread.CheckpointID{t.Head, t.ForkPoint} {
		var n int64
		if id == "" {
			continue
		}
		found, err := x.row("SELECT n FROM checkpoint WHERE id = ?", []any{string(id)}, &n)
		if err != nil {
			return err
		}
		if !found {
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
	err := s.do(ctx, 4096, func(x *tx) error {
		row, err := s.lookup(x, id)
		if err != nil {
			return err
		}
		was := row.t
		t, err := checkpoint.ChangeThread(row.t, change)
		if err != nil {
			return err
		}
		if t.Name != was.Name {
			var n int64
			if found, err := x.row("SELECT n FROM thread WHERE name = ?", []any{t.Name}, &n); err != nil {
				return err
			} else if found {
				return fmt.Errorf("thread %q: %w", t.Name, thread.ErrNameTaken)
			}
		}
		if t.Head != was.Head || t.ForkPoint != was.ForkPoint {
			if err := checkBases(x, t); err != nil {
				return err
			}
		}
		if t.Name != was.Name {
			if err := x.exec("UPDATE thread SET name = ? WHERE n = ?", t.Name, row.n); err != nil {
				return err
			}
		}
		if err := used(x, row.n, &was, &t); err != nil {
			return err
		}
		row.t, out = t, t
		return s.save(x, row)
	})
	if err != nil {
		return thread.Thread{}, err
	}
	return out, nil
}

// lookup reads a thread inside the transaction.
func (s *Store) lookup(x *tx, id thread.ID) (threadRow, error) {
	var row threadRow
	var sum, doc []byte
	found, err := x.row("SELECT n, seq, sum, doc FROM thread WHERE id = ?", []any{string(id)}, &row.n, &row.seq, &sum,
		&doc)
	if err != nil {
		return row, err
	}
	if !found {
		return row, fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	row.t, err = s.packer.OpenThread(id, doc, sum)
	return row, s.health.note(err)
}

// save writes a thread whose name is unchanged: naming the column would rewrite its index with every put.
func (s *Store) save(x *tx, row threadRow) error {
	doc, sum, err := s.packer.Thread(row.t)
	if err != nil {
		return err
	}
	return update(x, row, doc, sum)
}

func update(x *tx, row threadRow, doc, sum []byte) error {
	return x.exec("UPDATE thread SET seq = ?, sum = ?, doc = ? WHERE n = ?", row.seq, sum, doc, row.n)
}

// Thread returns one thread.
func (s *Store) Thread(ctx context.Context, id thread.ID) (thread.Thread, error) {
	var doc, sum []byte
	err := s.read.QueryRowContext(ctx, "SELECT sum, doc FROM thread WHERE id = ?", string(id)).Scan(&sum, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return thread.Thread{}, fmt.Errorf("thread %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return thread.Thread{}, s.health.translate(0, db(err))
	}
	t, err := s.packer.OpenThread(id, doc, sum)
	return t, s.health.note(err)
}

// Threads returns all threads, oldest first. A record that was damaged since the start, which repairs them, is left
// out: Thread returns its error, and one must not hide the others.
func (s *Store) Threads(ctx context.Context) ([]thread.Thread, error) {
	if first := s.first.Swap(nil); first != nil && ctx.Err() == nil {
		return *first, nil
	}
	rows, err := s.list(ctx)
	if err != nil {
		return nil, s.health.translate(0, err)
	}
	out := make([]thread.Thread, 0, len(rows))
	for i := range rows {
		if r := &rows[i]; s.health.note(r.damage) == nil {
			out = append(out, r.t)
		}
	}
	return out, nil
}

// PurgeThread removes a thread and the checkpoints that nothing is based on any more.
func (s *Store) PurgeThread(ctx context.Context, id thread.ID) error {
	return s.doFreeing(ctx, 64<<10, func(x *tx) error {
		row, err := s.lookup(x, id)
		if errors.Is(err, thread.ErrDamaged) {
			err = nil // a damaged thread can be purged like any other
		}
		if err != nil {
			return err
		}
		keep, err := bases(x, s.packer, id)
		if err != nil {
			return err
		}
		for _, q := range []string{"DELETE FROM thread WHERE n = ?1", "INSERT OR IGNORE INTO orphan VALUES (?1)"} {
			if err := x.exec(q, row.n); err != nil {
				return err
			}
		}
		if err := unuse(x, row.n); err != nil {
			return err
		}
		for _, q := range []string{"DELETE FROM execution WHERE thread = ?", "DELETE FROM prompt WHERE thread = ?"} {
			if err := x.exec(q, string(id)); err != nil {
				return err
			}
		}
		if err := sweep(x, keep); err != nil {
			return err
		}
		s.packer.Forget()
		return nil
	})
}

// bases returns the checkpoints that threads other than one are directly based on.
func bases(x *tx, packer *pack.Packer, but thread.ID) ([]thread.CheckpointID, error) {
	var out []thread.CheckpointID
	err := x.each("SELECT id, sum, doc FROM thread", nil, func(scan func(...any) error) error {
		var id thread.ID
		var sum, doc []byte
		if err := scan(&id, &sum, &doc); err != nil || id == but {
			return err
		}
		if t, err := packer.OpenThread(id, doc, sum); err == nil {
			out = append(out, checkpoint.Bases(t)...)
		}
		return nil
	})
	return out, err
}

// sweep removes the checkpoints of purged threads, except those in keep and those that other threads are based on.
func sweep(x *tx, keep []thread.CheckpointID) error {
	w := pack.NewSweep()
	err := x.each("SELECT n, parent, id FROM checkpoint WHERE thread IN (SELECT thread FROM orphan)", nil,
		func(scan func(...any) error) error {
			var n, parent int64
			var id thread.CheckpointID
			err := scan(&n, &parent, &id)
			w.Add(n, parent, id)
			return err
		})
	if err != nil {
		return err
	}
	w.KeepIDs(keep)
	err = x.each("SELECT parent FROM checkpoint WHERE fork = 1 AND thread NOT IN (SELECT thread FROM orphan)", nil,
		func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			w.Keep(n)
			return err
		})
	if err != nil {
		return err
	}
	for _, n := range w.Rest() {
		if err := x.exec("DELETE FROM checkpoint WHERE n = ?", n); err != nil {
			return err
		}
	}
	return x.exec("DELETE FROM orphan WHERE NOT EXISTS (SELECT 1 FROM checkpoint WHERE checkpoint.thread = orphan.thread)")
}
