package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// CompleteExecution writes down how an execution ended.
type CompleteExecution struct {
	Execution string      `json:"execution_id"`
	Status    work.Status `json:"status,omitempty"` // completed if empty
	Message   string      `json:"final_message,omitempty"`
	Error     string      `json:"error_message,omitempty"` // why it has failed
	// Deliverables are the files that it handed over.
	Deliverables []string `json:"deliverables,omitempty"`
	// At is when it ended, zero for now. Only a person may say so.
	At time.Time `json:"completed_at,omitzero"`
}

// Complete writes down how an execution by hand ended, once, with its deliverables: both or neither is stored, so that
// what is refused leaves nothing.
func (e *Executions) Complete(ctx context.Context, a Author, q CompleteExecution) (ExecutionAnswer, error) {
	if err := e.c.mayRecord(ctx, a, len(q.Message)+len(q.Error)+textSize(q.Deliverables)); err != nil {
		return ExecutionAnswer{}, err
	}
	state, reason, err := outcome(q)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	now := e.c.Now()
	at, err := backdated(a, q.At, now)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	x, err := e.byHand(ctx, a, q.Execution)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	if !q.At.IsZero() && at.Before(x.Started) {
		return ExecutionAnswer{}, thread.Kindf(thread.ErrInvalid, "%s began at %s: it cannot have ended before, at %s", x.Name,
			x.Started.Local().Format(time.DateTime), at.Local().Format(time.DateTime))
	}
	var made []work.Output
	if len(q.Deliverables) > 0 {
		if made, err = (&Outputs{e.c}).collected(ctx, a, x, CollectOutputs{Deliverables: q.Deliverables}); err != nil {
			return ExecutionAnswer{}, err
		}
	}
	said, warning := message("the final message", q.Message)
	var events []work.Event
	if said != "" {
		events = append(events, work.Event{Kind: work.KindSaid, Text: said})
	}
	ended, made, err := e.c.Store.End(ctx, x.ID, x.Fence, func(x *work.Execution) error {
		if x.State.Final() {
			return endedAlready(*x)
		}
		if at.Before(x.Started) {
			at = x.Started // the clock was set back
		}
		x.State, x.Reason, x.Ended = state, reason, at
		if said != "" {
			x.Answer = thread.Excerpt(said)
		}
		return nil
	}, made, events...)
	if err != nil {
		return ExecutionAnswer{}, err
	}
	return ExecutionAnswer{Execution: work.RowOf(ended), Warnings: warned(warning), Deliverables: len(made)}, e.c.settleTask(ctx, ended)
}

// outcome returns how an execution ends by what is said of it.
func outcome(q CompleteExecution) (work.State, string, error) {
	reason := clean(q.Error)
	switch q.Status {
	case "", work.StatusCompleted:
		if reason != "" && q.Status == "" {
			return work.Failed, reason, nil
		}
		if reason != "" {
			return "", "", thread.Hint(thread.Kindf(thread.ErrInvalid, "what is completed has no error"), "take --status failed")
		}
		return work.Completed, "", nil
	case work.StatusFailed:
		return work.Failed, reason, nil
	default:
		return "", "", thread.Hint(thread.Kindf(thread.ErrInvalid, "an execution does not end as %q", thread.Excerpt(string(q.Status))), "take completed or failed")
	}
}

// byHand finds an execution that an author may complete.
func (e *Executions) byHand(ctx context.Context, a Author, ref string) (work.Execution, error) {
	x, err := e.c.Store.Execution(ctx, ref)
	if errors.Is(err, thread.ErrNotFound) {
		return x, e.unknown(ctx, a, ref)
	}
	switch {
	case err != nil:
		return x, err
	case x.Kind != work.KindHand:
		return x, thread.Kindf(thread.ErrRefused, "%s was not written down by hand: how it ends is recorded by itself", x.Name)
	}
	if err := a.changes(x.By, "the execution "+x.Name); err != nil {
		return x, err
	}
	if x.State.Final() {
		return x, endedAlready(x)
	}
	return x, nil
}

func endedAlready(x work.Execution) error {
	return thread.Kindf(thread.ErrRefused, "%s is %s since %s: how it ended is written once", x.Name, x.State.Status(), x.Ended.Local().Format(time.DateTime))
}

// unknown is the error for an execution that there is not: one must be written down before it is completed.
func (e *Executions) unknown(ctx context.Context, a Author, ref string) error {
	var names []string
	if list, err := e.c.Store.Recorded(ctx, work.RecordQuery{Seen: a.seen()}); err == nil {
		for _, x := range list {
			names = append(names, x.Name)
		}
	}
	err := work.Unknown(ref, names)
	if len(names) > 0 {
		return err
	}
	return thread.Hint(thread.Kindf(thread.ErrNotFound, "no execution named %q", thread.Excerpt(ref)),
		fmt.Sprintf("write it down before it begins: orchestrator exec init \"...\" --type debugger --as %s", thread.Excerpt(ref)))
}
