package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

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
	err := s.do(ctx, int64(len(p.Text))+512, func(x *tx) (err error) {
		out, err = putPrompt(x, p)
		return err
	})
	if err != nil {
		return thread.Prompt{}, err
	}
	return out, nil
}

// putPrompt stores a prompt in a transaction and returns it as stored.
func putPrompt(x *tx, p thread.Prompt) (thread.Prompt, error) {
	p = checkpoint.NormalPrompt(p)
	doc, sum, err := checkpoint.PackPrompt(p)
	if err != nil {
		return p, err
	}
	var owner thread.ID
	found, err := x.row("SELECT n, thread FROM prompt WHERE id = ?", []any{string(p.ID)}, &p.Seq, &owner)
	if err != nil {
		return p, err
	}
	if found {
		if err := checkpoint.CheckPromptOf(p, owner); err != nil {
			return p, err
		}
		return p, x.exec("UPDATE prompt SET open = ?, sum = ?, doc = ? WHERE n = ?", !p.State.Over(), sum, doc, p.Seq)
	}
	var n int64
	if found, err = x.row("SELECT n FROM thread WHERE id = ?", []any{string(p.Thread)}, &n); err != nil {
		return p, err
	}
	if !found {
		return p, fmt.Errorf("thread %s: %w", p.Thread, thread.ErrNotFound)
	}
	p.Seq, err = x.insert("INSERT INTO prompt (id, thread, open, accepted, sum, doc) VALUES (?, ?, ?, ?, ?, ?)",
		string(p.ID), string(p.Thread), !p.State.Over(), sqlrow.Nanos(p.Accepted), sum, doc)
	return p, err
}

// Prompt returns one prompt.
func (s *Store) Prompt(ctx context.Context, id thread.PromptID) (thread.Prompt, error) {
	var n int64
	var sum, doc []byte
	err := s.read.QueryRowContext(ctx, "SELECT n, sum, doc FROM prompt WHERE id = ?", string(id)).Scan(&n, &sum, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return thread.Prompt{}, fmt.Errorf("prompt %s: %w", id, thread.ErrNotFound)
	}
	if err != nil {
		return thread.Prompt{}, s.health.translate(0, db(err))
	}
	return checkpoint.OpenPrompt(id, n, doc, sum)
}

// The queries of Prompts, each covered by an index.
const (
	promptsOf = "SELECT " + sqlrow.PromptColumns +
		" FROM prompt WHERE thread = ?1 AND (NOT ?2 OR open = 1) ORDER BY n DESC LIMIT ?3"
	promptsOfAll = "SELECT " + sqlrow.PromptColumns +
		" FROM prompt WHERE ?1 = '' AND NOT ?2 ORDER BY n DESC LIMIT ?3"
	openPromptsOf = "SELECT " + sqlrow.PromptColumns +
		" FROM prompt WHERE ?1 = '' AND ?2 AND open = 1 ORDER BY n DESC LIMIT ?3"
)

// Prompts returns the newest prompts, oldest first. A damaged one is left out: it must not hide the others.
func (s *Store) Prompts(ctx context.Context, id thread.ID, open bool, limit int) ([]thread.Prompt, error) {
	query := promptsOf
	switch {
	case id == "" && open:
		query = openPromptsOf
	case id == "":
		query = promptsOfAll
	}
	rows, err := s.read.QueryContext(ctx, query, string(id), open, checkpoint.Limit(thread.Page{Limit: limit}))
	if err != nil {
		return nil, s.health.translate(0, db(err))
	}
	out := []thread.Prompt{}
	err = each(rows, func(scan func(...any) error) error {
		p, damage, err := sqlrow.Prompt(scan)
		if err != nil {
			return err
		}
		if damage == nil {
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, s.health.translate(0, err)
	}
	slices.Reverse(out)
	return out, nil
}
