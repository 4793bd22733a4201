package record

import (
	"context"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// QueryExecutions selects executions of all kinds that have begun.
type QueryExecutions struct {
	Session string      `json:"session_id,omitempty"`
	Task    string      `json:"task,omitempty"`
	Type    string      `json:"agent_type,omitempty"`
	Status  work.Status `json:"status,omitempty"`
	Origin  work.Origin `json:"origin,omitempty"`
	Since   time.Time   `json:"since,omitzero"`
	Until   time.Time   `json:"until,omitzero"`
	Before  work.ID     `json:"before,omitempty"` // only older ones than this
	Limit   int         `json:"limit,omitempty"`  // 100 when 0
}

// wholeMessages is how many bytes of final messages a list has in full; of what follows it has excerpts.
const wholeMessages = 4 << 20

// Query returns executions, newest first, in the names of the view: of an agent those of its thread, and those that it
// asked for or recorded.
func (e *Executions) Query(ctx context.Context, a Author, q QueryExecutions) ([]work.Row, error) {
	query, err := q.query(a)
	if err != nil {
		return nil, err
	}
	if q.Session != "" {
		if _, err := e.c.Store.Session(ctx, q.Session); err != nil {
			return nil, e.c.unknownSession(ctx, a, q.Session, err)
		}
	}
	list, err := e.c.Store.Recorded(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, left := []work.Row{}, wholeMessages
	for _, x := range list {
		r := work.RowOf(x)
		if x.Said > 0 && left > 0 {
			said, err := e.c.Store.Events(ctx, x.ID, x.Said-1, 1)
			if err != nil {
				return nil, err
			}
			if len(said) == 1 && said[0].Kind == work.KindSaid {
				r.Message = said[0].Text
				left -= len(r.Message)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// List returns executions of all kinds as they are stored, newest first, as far as an author sees them.
func (e *Executions) List(ctx context.Context, a Author, q work.Query) ([]work.Execution, error) {
	list, err := e.c.Store.Recorded(ctx, work.RecordQuery{Thread: q.Thread, States: q.States, Before: q.Before, Limit: q.Limit, Seen: a.seen()})
	if list == nil {
		list = []work.Execution{}
	}
	return list, err
}

// query returns what selects them in the store.
func (q QueryExecutions) query(a Author) (work.RecordQuery, error) {
	out := work.RecordQuery{
		Session: q.Session, Task: q.Task, Type: q.Type, Since: q.Since, Until: q.Until, Before: q.Before, Limit: q.Limit, Seen: a.seen(),
		States: begun(),
	}
	if q.Status != "" {
		if out.States = q.Status.States(); len(out.States) == 0 {
			return out, thread.Hint(thread.Kindf(thread.ErrInvalid, "no execution is %q", thread.Excerpt(string(q.Status))), "take deployed, completed or failed")
		}
	}
	if q.Origin != "" {
		out.Kinds = slices.DeleteFunc(work.Kinds(), func(k work.Kind) bool { return k.Origin() != q.Origin })
		if len(out.Kinds) == 0 {
			return out, thread.Hint(thread.Kindf(thread.ErrInvalid, "origin %q is not known", thread.Excerpt(string(q.Origin))), "take ours, native or hand")
		}
	}
	return out, nil
}
