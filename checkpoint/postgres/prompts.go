package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/sqlrow"
	"orchestrator/thread"
)

// PutPrompt stores a prompt or replaces it.
func (s *Store) PutPrompt(ctx context.Context, p thread.Prompt) (thread.Prompt, error) {
	if err := checkpoint.CheckPrompt(p); err != nil {
		return thread.Prompt{}, err
	}
	var out thread.Prompt
	err := s.tx(ctx, lockNone, func(ctx context.Context, x pgx.Tx) (err error) {
		out, err = s.putPrompt(ctx, x, p)
		return err
	})
	if err != nil {
		return thread.Prompt{}, err
	}
	return out, nil
}

// putPrompt stores a prompt in a transaction and returns it as stored. NUL, which PostgreSQL text cannot contain, does
// not matter: the document is bytes.
func (s *Store) putPrompt(ctx context.Context, x pgx.Tx, p thread.Prompt) (thread.Prompt, error) {
	p = checkpoint.NormalPrompt(p)
	doc, sum, err := checkpoint.PackPrompt(p)
	if err != nil {
		return p, err
	}
	var n int64
	// The thread's row is locked, so that it is not purged in the meantime and its prompts are numbered one after the
	// other.
	err = x.QueryRow(ctx, "SELECT n FROM thread WHERE project = $1 AND host = $2 AND id = $3 FOR UPDATE",
		s.project, s.host, string(p.Thread)).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, &changeError{fmt.Errorf("thread %s: %w", p.Thread, thread.ErrNotFound)}
	}
	if err != nil {
		return p, err
	}
	var owner string
	err = x.QueryRow(ctx, "SELECT n, thread FROM prompt WHERE project = $1 AND id = $2", s.project,
		string(p.ID)).Scan(&p.Seq, &owner)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = x.QueryRow(ctx, `INSERT INTO prompt (project, host, id, thread, open, accepted, sum, doc)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING n`, s.project, s.host, string(p.ID), string(p.Thread),
			!p.State.Over(), sqlrow.Nanos(p.Accepted), sum, doc).Scan(&p.Seq)
		return p, err
	case err != nil:
		return p, err
	}
	if err := checkpoint.CheckPromptOf(p, thread.ID(owner)); err != nil {
		return p, &changeError{err}
	}
	_, err = x.Exec(ctx, "UPDATE prompt SET open = $2, sum = $3, doc = $4 WHERE n = $1", p.Seq, !p.State.Over(), sum, doc)
	return p, err
}

// Prompt returns one prompt.
func (s *Store) Prompt(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	var n int64
	var sum, doc []byte
	err := s.pool.QueryRow(ctx, "SELECT n, sum, doc FROM prompt WHERE project = $1 AND host = $2 AND id = $3",
		s.project, s.host, string(id)).Scan(&n, &sum, &doc)
	if errors.Is(err, pgx.ErrNoRows) {
		return thread.Prompt{}, fmt.Errorf("prompt %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return thread.Prompt{}, s.translate(err)
	}
	return checkpoint.OpenPrompt(id, n, doc, sum)
}

// Prompts returns the newest prompts, oldest first. A damaged one is left out: it must not hide the others.
func (s *Store) Prompts(ctx context.Context, id thread.ID, open bool, limit int) ([]thread.Prompt, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	rows, err := s.pool.Query(ctx, "SELECT "+sqlrow.PromptColumns+` FROM prompt WHERE project = $1 AND host = $2
		AND ($3 = '' OR thread = $3) AND (NOT $4 OR open) ORDER BY n DESC LIMIT $5`,
		s.project, s.host, string(id), open, checkpoint.Limit(thread.Page{Limit: limit}))
	if err != nil {
		return nil, s.translate(err)
	}
	out := []thread.Prompt{}
	for rows.Next() {
		p, damage, err := sqlrow.Prompt(rows.Scan)
		if err != nil {
			rows.Close()
			return nil, s.translate(err)
		}
		if damage == nil {
			out = append(out, p)
		}
	}
	err = rows.Err()
	if err != nil {
		return nil, s.translate(err)
	}
	slices.Reverse(out)
	return out, nil
}
