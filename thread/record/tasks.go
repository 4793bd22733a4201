package record

import (
	"context"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// PutTask adds a task to a work session, or changes the one with its title.
type PutTask struct {
	Session string          `json:"session_id"`
	Title   string          `json:"title"`
	Status  work.TaskStatus `json:"status,omitempty"` // pending for a new one, else as it is
	Body    *string         `json:"body,omitempty"`   // nil leaves it as it is
}

// maxBody is the longest body of a task.
const maxBody = 16 << 10

// Task adds a task, or changes its state or its body.
func (s *Sessions) Task(ctx context.Context, a Author, q PutTask) (work.Task, error) {
	body := ""
	if q.Body != nil {
		body = clean(*q.Body)
	}
	if err := s.c.mayRecord(ctx, a, len(q.Title)+len(body)); err != nil {
		return work.Task{}, err
	}
	title, err := word("the title", q.Title)
	if err != nil {
		return work.Task{}, err
	}
	states := []work.TaskStatus{"", work.TaskPending, work.TaskInProgress, work.TaskComplete, work.TaskFailed, work.TaskCancelled}
	switch {
	case title == "":
		return work.Task{}, thread.Kindf(thread.ErrInvalid, "a task needs a title")
	case len(body) > maxBody:
		return work.Task{}, thread.Kindf(thread.ErrInvalid, "the task's text has %s, the limit is %s", thread.Bytes(int64(len(body))), thread.Bytes(maxBody))
	case !slices.Contains(states, q.Status):
		return work.Task{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "no task is %q", thread.Excerpt(string(q.Status))),
			"take pending, in_progress, complete, failed or cancelled")
	}
	of, err := s.c.joined(ctx, a, q.Session)
	if err != nil {
		return work.Task{}, err
	}
	if err := of.Open(); err != nil {
		return work.Task{}, err
	}
	return s.c.Store.ChangeTask(ctx, of.Name, title, func(t *work.Task) error {
		now := s.c.Now()
		if t.Created.IsZero() {
			t.Created, t.By = now, a.Thread
		}
		if err := a.changes(t.By, "the task "+t.Title); err != nil {
			return err
		}
		t.Updated = now
		if q.Status != "" {
			t.Status = q.Status
		}
		if q.Body != nil {
			t.Body = body
		}
		return nil
	})
}

// settleTask has the state of an execution's task follow it. A task that there is not yet is made.
func (c Config) settleTask(ctx context.Context, x work.Execution) error {
	if x.Session == "" || x.Task == "" {
		return nil
	}
	return work.SettleTask(ctx, c.Store, c.Now, x.Session, x.Task, false)
}
