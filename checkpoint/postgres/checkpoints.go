package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/pack"
	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

// PutCheckpoint stores a checkpoint and moves its thread.
func (s *Store) PutCheckpoint(ctx context.Context, c thread.Checkpoint, d thread.Delta) (thread.Checkpoint, error) {
	return sqlrow.Put(ctx, s.packer, table{s}, c, d)
}

// Insert implements sqlrow.Table.
func (t table) Insert(
	ctx context.Context, k *pack.Packed, c thread.Checkpoint, prompts []thread.Prompt,
) (row, seq int64, err error) {
	err = t.s.tx(ctx, lockShared, func(ctx context.Context, x pgx.Tx) error {
		var err error
		row, seq, err = t.s.insert(ctx, x, k, c)
		for _, p := range prompts {
			if err == nil {
				_, err = t.s.putPrompt(ctx, x, p)
			}
		}
		if isTaken(err, "checkpoint_project_id_key") { // the same checkpoint was put at the same time
			return &changeError{errAgain}
		}
		return err
	})
	if errors.Is(err, errAgain) {
		return 0, 0, nil
	}
	return row, seq, err
}

var errAgain = errors.New("stored already")

// Find implements sqlrow.Table.
func (t table) Find(ctx context.Context, c thread.Checkpoint) (there bool, parent int64, err error) {
	ctx, cancel := t.s.limited(ctx)
	defer cancel()
	rows, err := t.s.pool.Query(ctx, "SELECT id, n FROM checkpoint WHERE project = $1 AND id IN ($2, $3)",
		t.s.project, string(c.ID), string(c.Parent))
	if err != nil {
		return false, 0, t.s.translate(err)
	}
	var p sqlrow.Pair
	var id thread.CheckpointID
	var n int64
	if _, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error { p.Add(c, id, n); return nil }); err != nil {
		return false, 0, t.s.translate(err)
	}
	return p.There, p.Parent, p.Check(c)
}

// insert writes the row and its thread. The thread's row is locked, so its Seq is ours.
func (s *Store) insert(ctx context.Context, x pgx.Tx, k *pack.Packed, c thread.Checkpoint) (n, seq int64, err error) {
	th, err := s.lookup(ctx, x, c.Thread)
	if err != nil {
		return 0, 0, err
	}
	r := k.Row
	owner := th.n // of the parent
	if r.Parent != 0 {
		err := x.QueryRow(ctx, "SELECT thread FROM checkpoint WHERE n = $1", r.Parent).Scan(&owner)
		if errors.Is(err, pgx.ErrNoRows) { // purged since it was read
			err = fmt.Errorf("parent checkpoint %s: %w", c.Parent, thread.ErrNotFound)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	th.seq++
	c.Seq = th.seq
	checkpoint.Advance(&th.t, c)
	err = x.QueryRow(ctx, `
		INSERT INTO checkpoint (project, id, thread, parent, fork, seq, turn, kind, items, chain, raw, sum, data)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING n`, s.project, string(c.ID), th.n, r.Parent,
		owner != th.n, c.Seq, c.Turn, string(c.Kind), r.Items, r.Chain, r.Raw, pack.Seal(k.Plain, c.Seq), r.Data).Scan(&n)
	if err != nil {
		return 0, 0, err
	}
	return n, c.Seq, s.save(ctx, x, th)
}

// read reads a row as the other database does.
func read[T any](from func(sqlrow.Scan) (T, error)) pgx.RowToFunc[T] {
	return func(row pgx.CollectableRow) (T, error) { return from(row.Scan) }
}

// query reads rows with data.
func (s *Store) query(ctx context.Context, query string, args ...any) ([]pack.Row, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, s.translate(err)
	}
	out, err := pgx.CollectRows(rows, read(sqlrow.Checkpoint))
	return out, s.translate(err)
}

// Checkpoints returns a thread's own checkpoints, newest first.
func (s *Store) Checkpoints(ctx context.Context, id thread.ID, p thread.Page) ([]thread.Checkpoint, error) {
	rows, err := s.query(ctx, "SELECT "+sqlrow.Columns+` FROM checkpoint c JOIN thread t ON t.n = c.thread
		WHERE t.project = $1 AND t.id = $2 AND ($3 = 0 OR c.seq < $3) AND (NOT $4 OR c.kind <> 'response')
		ORDER BY c.seq DESC LIMIT $5`,
		s.project, string(id), p.Before, p.Turns, checkpoint.Limit(p))
	if err != nil {
		return nil, err
	}
	return s.packer.Checkpoints(ctx, table{s}, rows)
}

// Lineage returns the checkpoints from one back to the root.
func (s *Store) Lineage(ctx context.Context, id thread.CheckpointID, p thread.Page) ([]thread.Checkpoint, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	var n int64
	err := s.pool.QueryRow(ctx, "SELECT n FROM checkpoint WHERE project = $1 AND id = $2", s.project, string(id)).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("checkpoint %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return nil, s.translate(err)
	}
	rows, err := s.query(ctx, `WITH RECURSIVE up (n, parent, turn, kind) AS (
		SELECT n, parent, turn, kind FROM checkpoint WHERE n = $1 UNION ALL
		SELECT c.n, c.parent, c.turn, c.kind FROM up JOIN checkpoint c ON c.n = up.parent),
		page (n) AS MATERIALIZED (SELECT n FROM up WHERE ($2 = 0 OR turn < $2) AND (NOT $3 OR kind <> 'response') LIMIT $4)
		SELECT `+sqlrow.Columns+" FROM page JOIN checkpoint c ON c.n = page.n ORDER BY c.n DESC", n, p.Before, p.Turns,
		checkpoint.Limit(p))
	if err != nil {
		return nil, err
	}
	return s.packer.Checkpoints(ctx, table{s}, rows)
}

// table gives the packer access to rows.
type table struct{ s *Store }

func (t table) Lineage(ctx context.Context, n int64, limit int) ([]pack.Row, error) {
	rows, err := t.s.query(ctx, `WITH RECURSIVE up (n, d) AS (SELECT $1::bigint, 1 UNION ALL
		SELECT c.parent, d + 1 FROM up JOIN checkpoint c ON c.n = up.n WHERE c.parent <> 0 AND d < $2)
		SELECT `+sqlrow.Columns+" FROM up JOIN checkpoint c ON c.n = up.n ORDER BY d", n, limit)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("checkpoint row %d: %w", n, thread.ErrNotFound)
	}
	return rows, err
}

// Owner implements pack.Owners.
func (t table) Owner(ctx context.Context, n int64) (id thread.ID, err error) {
	ctx, cancel := t.s.limited(ctx)
	defer cancel()
	err = t.s.pool.QueryRow(ctx, "SELECT id FROM thread WHERE n = $1", n).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("thread row %d: %w", n, thread.ErrNotFound)
	}
	return id, t.s.translate(err)
}

func (t table) Row(ctx context.Context, id thread.CheckpointID) (pack.Row, error) {
	rows, err := t.s.query(ctx, "SELECT "+sqlrow.Columns+" FROM checkpoint c WHERE project = $1 AND id = $2", t.s.project,
		string(id))
	if err != nil {
		return pack.Row{}, err
	}
	if len(rows) == 0 {
		return pack.Row{}, fmt.Errorf("checkpoint %s: %w", id, thread.ErrNotFound)
	}
	return rows[0], nil
}
