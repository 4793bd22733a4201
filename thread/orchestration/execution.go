package orchestration

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/record"
	"orchestrator/thread/work"
)

// Execution is an execution that was written down.
type Execution struct {
	server api.Doer
	row    work.Row
}

// find finds an execution of a work session.
func find(ctx context.Context, server api.Doer, session, id string) (*Execution, error) {
	q := record.QueryExecutions{Session: session, Limit: 1000}
	for {
		rows, err := api.QueryExecutions.Do(ctx, server, q)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Execution == id || string(r.ID) == id {
				return &Execution{server, r}, nil
			}
		}
		if len(rows) < q.Limit {
			return nil, fmt.Errorf("execution %q of %s: %w", thread.Excerpt(id), session, thread.ErrNotFound)
		}
		q.Before = rows[len(rows)-1].ID
	}
}

// ID is the execution's name.
func (e *Execution) ID() string { return e.row.Execution }

// Row is the execution as it was when it was written down, found or completed.
func (e *Execution) Row() work.Row { return e.row }

// Completion is how an execution ended.
type Completion struct {
	FinalMessage string
	Deliverables []string
	Success      bool
	Error        string // why it failed
}

// RecordCompletion writes down how it ended, with its final message and the files that it made.
func (e *Execution) RecordCompletion(ctx context.Context, c Completion) (record.ExecutionAnswer, error) {
	q := record.CompleteExecution{
		Execution: e.ID(), Status: work.StatusCompleted, Message: c.FinalMessage, Error: c.Error, Deliverables: c.Deliverables,
	}
	if !c.Success {
		q.Status = work.StatusFailed
	}
	done, err := api.CompleteExecution.Do(ctx, e.server, q)
	if err == nil {
		e.row = done.Execution
	}
	return done, err
}
