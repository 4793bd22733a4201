package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

const lineageQuery = `WITH RECURSIVE up (n, d) AS (SELECT ?1, 1 UNION ALL
	SELECT c.parent, d + 1 FROM up JOIN checkpoint c ON c.n = up.n WHERE c.parent <> 0 AND d < ?2)
	SELECT ` + sqlrow.Columns + ` FROM up CROSS JOIN checkpoint c ON c.n = up.n ORDER BY d`

// PutCheckpoint stores a checkpoint and moves its thread. It is packed before it is queued: the store's turn is short.
func (s *Store) PutCheckpoint(ctx context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	return sqlrow.Put(ctx, s.packer, table{s}, c, d)
}

// pairQuery finds a checkpoint and its parent.
const pairQuery = "SELECT id, n FROM checkpoint WHERE id IN (?, ?)"

// Find implements sqlrow.Table.
func (t table) Find(ctx context.Context, c thread.Checkpoint) (there bool, parent int64, err error) {
	rows, err := t.s.finder.QueryContext(ctx, string(c.ID), string(c.Parent))
	if err != nil {
		return false, 0, t.s.health.translate(0, db(err))
	}
	var p sqlrow.Pair
	err = each(rows, func(scan func(...any) error) error {
		var id thread.CheckpointID
		var n int64
		err := scan(&id, &n)
		p.Add(c, id, n)
		return err
	})
	if err != nil {
		return false, 0, t.s.health.translate(0, err)
	}
	return p.There, p.Parent, p.Check(c)
}

// Insert implements sqlrow.Table.
func (t table) Insert(
	ctx context.Context, k *pack.Packed, c thread.Checkpoint, prompts []thread.Prompt,
) (row, seq int64, err error) {
	do := t.s.doVital
	if c.Kind == thread.KindRewind || c.Kind == thread.KindImport {
		do = t.s.do // not an agent's answer, nor what one waits behind: it can be done again
	}
	err = do(ctx, int64(k.Row.Raw), func(x *tx) error {
		var err error
		if row, seq, err = t.s.insert(x, k, c); err != nil || row == 0 {
			return err
		}
		for _, p := range prompts {
			if _, err := putPrompt(x, p); err != nil {
				return err
			}
		}
		return nil
	})
	return row, seq, err
}

// placeQuery reads everything that a put needs to know: its thread, whether the checkpoint is already stored, and the
// row of its parent's thread.
const placeQuery = `SELECT n, seq, sum, doc, EXISTS (SELECT 1 FROM checkpoint WHERE id = ?2),
	coalesce((SELECT c.thread FROM checkpoint c WHERE c.n = ?3 AND c.id = ?4), 0) FROM thread WHERE id = ?1`

// insert writes the row and its thread; n is 0 if the checkpoint is already stored.
func (s *Store) insert(x *tx, k *pack.Packed, c thread.Checkpoint) (n, seq int64, err error) {
	var th threadRow
	var sum, doc []byte
	var there bool
	var owner int64 // of the parent
	r := k.Row
	found, err := x.row(placeQuery, []any{string(c.Thread), string(c.ID), r.Parent, string(c.Parent)},
		&th.n, &th.seq, &sum, &doc, &there, &owner)
	if err == nil && !found { // a checkpoint outlives its thread
		_, err = x.row("SELECT EXISTS (SELECT 1 FROM checkpoint WHERE id = ?)", []any{string(c.ID)}, &there)
	}
	switch {
	case err != nil || there:
		return 0, 0, err
	case !found:
		return 0, 0, fmt.Errorf("thread %s: %w", c.Thread, thread.ErrNotFound)
	case r.Parent != 0 && owner == 0: // purged since it was read
		return 0, 0, fmt.Errorf("parent checkpoint %s: %w", c.Parent, thread.ErrNotFound)
	}
	if th.t, err = s.latest(c.Thread, doc, sum); err != nil {
		return 0, 0, err
	}
	fork := 0
	if r.Parent != 0 && owner != th.n {
		fork = 1
	}
	th.seq++
	c.Seq = th.seq
	was := th.t
	checkpoint.Advance(&th.t, c)
	if err := used(x, th.n, &was, &th.t); err != nil {
		return 0, 0, err
	}
	if doc, sum, err = s.packer.Thread(th.t); err != nil {
		return 0, 0, err
	}
	s.keep(th.t, sum)
	n, err = x.insert(`INSERT INTO checkpoint (id, thread, parent, fork, seq, turn, kind, items, chain, raw, sum, data)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(c.ID), th.n, r.Parent, fork, c.Seq, c.Turn, string(c.Kind),
		r.Items, r.Chain, r.Raw, pack.Seal(k.Plain, c.Seq), r.Data)
	if err != nil {
		return 0, 0, err
	}
	return n, c.Seq, update(x, th, doc, sum)
}

// maxPuts bounds the threads that are kept between puts.
const maxPuts = 256

// keep keeps a thread for the next put. If this put is rolled back, the hash will not match. The caller has the turn.
func (s *Store) keep(t thread.Thread, sum []byte) {
	if len(s.puts) >= maxPuts {
		clear(s.puts)
	}
	s.puts[t.ID] = putThread{string(sum), t}
}

// latest returns the thread of a document, from memory if the last put made it. What it points to must not be modified.
// The caller has the turn.
func (s *Store) latest(id thread.ID, doc, sum []byte) (thread.Thread, error) {
	if p, kept := s.puts[id]; kept && p.sum == string(sum) {
		return p.t, nil
	}
	t, err := s.packer.OpenThread(id, doc, sum)
	return t, s.health.note(err)
}

// query reads rows with data.
func (s *Store) query(ctx context.Context, query string, args ...any) ([]pack.Row, error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.health.translate(0, db(err))
	}
	out, err := collect(rows, sqlrow.Checkpoint)
	return out, s.health.translate(0, err)
}

// Checkpoints returns a thread's own checkpoints, newest first.
func (s *Store) Checkpoints(ctx context.Context, id thread.ID, p thread.Page) ([]thread.Checkpoint, error) {
	return s.page(ctx, "SELECT "+sqlrow.Columns+` FROM checkpoint c JOIN thread t ON t.n = c.thread
		WHERE t.id = ?1 AND (?2 = 0 OR c.seq < ?2) AND (NOT ?3 OR c.kind <> 'response') 
		ORDER BY c.seq DESC LIMIT ?4`, string(id), p)
}

// Lineage returns the checkpoints from one back to the root.
func (s *Store) Lineage(ctx context.Context, id thread.CheckpointID, p thread.Page) ([]thread.Checkpoint, error) {
	if _, err := (table{s}).Row(ctx, id); err != nil {
		return nil, err
	}
	return s.page(ctx, `WITH RECURSIVE up (n, parent, turn, kind) AS (
		SELECT n, parent, turn, kind FROM checkpoint WHERE id = ?1 UNION ALL
		SELECT c.n, c.parent, c.turn, c.kind FROM up JOIN checkpoint c ON c.n = up.parent),
		page (n) AS MATERIALIZED (SELECT n FROM up WHERE (?2 = 0 OR turn < ?2) AND (NOT ?3 OR kind <> 'response') LIMIT ?4)
		SELECT `+sqlrow.Columns+" FROM page CROSS JOIN checkpoint c ON c.n = page.n ORDER BY c.n DESC", string(id), p)
}

func (s *Store) page(ctx context.Context, query, id string, p thread.Page) ([]thread.Checkpoint, error) {
	rows, err := s.query(ctx, query, id, p.Before, p.Turns, checkpoint.Limit(p))
	if err != nil {
		return nil, err
	}
	return s.packer.Checkpoints(ctx, table{s}, rows)
}

// table gives the packer access to rows.
type table struct{ s *Store }

func (t table) Lineage(ctx context.Context, n int64, limit int) ([]pack.Row, error) {
	rows, err := t.s.query(ctx, lineageQuery, n, limit)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("checkpoint row %d: %w", n, thread.ErrNotFound)
	}
	return rows, err
}

// Owner implements pack.Owners.
func (t table) Owner(ctx context.Context, n int64) (id thread.ID, err error) {
	err = t.s.read.QueryRowContext(ctx, "SELECT id FROM thread WHERE n = ?", n).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("thread row %d: %w", n, thread.ErrNotFound)
	}
	return id, t.s.health.translate(0, db(err))
}

func (t table) Row(ctx context.Context, id thread.CheckpointID) (pack.Row, error) {
	r, err := sqlrow.Checkpoint(t.s.read.QueryRowContext(ctx, "SELECT "+sqlrow.Columns+" FROM checkpoint c WHERE id = ?",
		string(id)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return r, fmt.Errorf("checkpoint %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return r, t.s.health.translate(0, db(err))
	}
	return r, nil
}
