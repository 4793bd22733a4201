package record

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// WhoRequest asks which agents worked on something: the title of a task, the name of a work session, or words.
type WhoRequest struct {
	Of      string `json:"of"`
	Session string `json:"session_id,omitempty"` // the task's; "" for any
	Limit   int    `json:"limit,omitempty"`
}

// Who is which agents worked on something, in order, and what came of that.
type Who struct {
	// Found says what was meant: "session", "task", or "words" if no task and no work session has that name.
	Found   string        `json:"found"`
	Session *work.Session `json:"session,omitempty"`
	Tasks   []work.Task   `json:"tasks,omitempty"`
	Worked  []Worked      `json:"executions"` // oldest first
	// More is set if there are older ones.
	More bool `json:"more,omitempty"`
}

// Who returns which agents worked on something.
func (a *Answers) Who(ctx context.Context, by Author, q WhoRequest) (Who, error) {
	n := limit(q.Limit)
	if q.Limit <= 0 {
		n = 100
	}
	for _, try := range []struct {
		found string
		of    work.RecordQuery
	}{
		{"task", work.RecordQuery{Task: q.Of, Session: q.Session}},
		{"session", work.RecordQuery{Session: q.Of}},
		{"words", work.RecordQuery{Words: words(q.Of), Session: q.Session}},
	} {
		if try.found == "session" && q.Session != "" || try.found == "words" && len(try.of.Words) == 0 {
			continue
		}
		try.of.Seen, try.of.Limit = by.seen(), min(n+1, most)
		list, err := a.c.Store.Recorded(ctx, try.of)
		if err != nil {
			return Who{}, err
		}
		w := Who{Found: try.found}
		if try.found == "session" {
			if w.Session, w.Tasks, err = a.session(ctx, by, q.Of); err != nil {
				return Who{}, err
			}
		}
		if len(list) == 0 && w.Session == nil {
			continue
		}
		if len(list) > n {
			list, w.More = list[:n], true
		}
		w.Worked, err = a.worked(ctx, oldestFirst(list), "")
		return w, err
	}
	return Who{}, thread.Hint(thread.Kindf(thread.ErrNotFound, "no task, work session or execution is called %q", thread.Excerpt(q.Of)),
		"`orchestrator session list` lists work sessions")
}

// session returns a work session with its tasks, nil if there is none that the author sees.
func (a *Answers) session(ctx context.Context, by Author, name string) (*work.Session, []work.Task, error) {
	s, err := a.c.session(ctx, by, name)
	switch {
	case errors.Is(err, thread.ErrNotFound), errors.Is(err, thread.ErrNotGranted):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	tasks, err := a.c.Store.Tasks(ctx, name)
	return &s, tasks, err
}
