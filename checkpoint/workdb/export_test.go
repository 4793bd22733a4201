package workdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"orchestrator/checkpoint/workrow"
	"orchestrator/thread/work"
)

// SetLimit lets the file have so many pages and no more, as a full disk does.
func (s *Store) SetLimit(ctx context.Context, pages int) error {
	_, err := s.file.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}

// Pages returns how many pages the file has.
func (s *Store) Pages(ctx context.Context) (n int, err error) {
	err = s.file.writer.QueryRowContext(ctx, "PRAGMA page_count").Scan(&n)
	return n, err
}

// Explained returns how the database would run each statement that reads, by the statement.
func (s *Store) Explained(ctx context.Context) (map[string]string, error) {
	return s.Explain(ctx, s.Statements())
}

// Hasty has commits not wait for the disk.
func (s *Store) Hasty(ctx context.Context) error {
	_, err := s.file.writer.ExecContext(ctx, "PRAGMA synchronous = OFF")
	return err
}

// Explain returns how the database would run statements, by their names.
func (s *Store) Explain(ctx context.Context, statements map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for name, q := range statements {
		rows, err := s.file.read.QueryContext(ctx, "EXPLAIN QUERY PLAN "+q, make([]any, strings.Count(q, "?"))...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return nil, err
			}
			out[name] += detail + "\n"
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		rows.Close()
	}
	return out, nil
}

// Raw writes an execution with some events into a file, in a transaction of somebody else.
func Raw(t *sql.Tx, n int64, x work.Execution, events int) error {
	ctx := context.Background()
	r, err := workrow.Pack(n, x)
	if err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, "INSERT INTO work ("+workrow.Columns+") VALUES (?, ?, ?, ?, ?, ?, ?)", n, string(r.ID),
		r.Name, string(r.Thread), string(r.State), r.Sum, r.Doc); err != nil {
		return err
	}
	rows := make([]workrow.EventRow, events)
	for i := range rows {
		if rows[i], err = workrow.PackEvent(int64(i+1), work.Event{At: x.Created, Attempt: 1, Kind: "text",
			Text: fmt.Sprint("a line of what the agent said, number ", i)}); err != nil {
			return err
		}
	}
	for _, e := range rows {
		if _, err := t.ExecContext(ctx, "INSERT INTO work_event (work, seq, sum, doc) VALUES (?, ?, ?, ?)", n, e.Seq, e.Sum, e.Doc); err != nil {
			return err
		}
	}
	return nil
}

// FirstVersion makes the tables of the first version.
var FirstVersion = fmt.Sprintf("%s;PRAGMA application_id = %d;PRAGMA user_version = 1", first, application)

// WithoutPlans removes what version 4 has added.
const WithoutPlans = `DROP VIEW deliverables; DROP VIEW tasks; DROP TABLE work_part; DROP TABLE plan_armed; DROP TABLE plan_token;
	DROP TABLE plan_handover; DROP TABLE plan_event; DROP TABLE plan_edge; DROP TABLE plan_node; DROP TABLE plan_task; DROP TABLE plan_document;`

// RawFirst writes an execution with some events into a file of the first version.
func RawFirst(t *sql.Tx, n int64, x work.Execution, events int) error {
	r, err := workrow.Pack(n, x)
	if err != nil {
		return err
	}
	if _, err := t.Exec("INSERT INTO execution ("+workrow.Columns+") VALUES (?, ?, ?, ?, ?, ?, ?)", n, string(r.ID), r.Name,
		string(r.Thread), string(r.State), r.Sum, r.Doc); err != nil {
		return err
	}
	for i := range events {
		e, err := workrow.PackEvent(int64(i+1), work.Event{At: x.Created, Attempt: 1, Kind: "text", Text: fmt.Sprint("line ", i)})
		if err != nil {
			return err
		}
		if _, err := t.Exec("INSERT INTO event (execution, seq, sum, doc) VALUES (?, ?, ?, ?)", n, e.Seq, e.Sum, e.Doc); err != nil {
			return err
		}
	}
	return nil
}
