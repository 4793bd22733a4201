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
	of, err := s.c.Store.Session(ctx, q.Session)
	if err != nil {
		return work.Task{}, s.c.unknownSession(ctx, a, q.Session, err)
	}
	if err := of.Open(); err != nil {
		return work.Task{}, err
	}
	all, err := s.c.Store.Tasks(ctx, of.Name)
	if err != nil {
		return work.Task{}, err
	}
	now := s.c.Now()
	t := work.Task{Session: of.Name, Title: title, Status: work.TaskPending, Created: now, By: a.Thread}
	if i := slices.IndexFunc(all, func(t work.Task) bool { return t.Title == title }); i >= 0 {
		t = all[i]
		if err := a.changes(t.By, "the task "+t.Title); err != nil {
			return work.Task{}, err
		}
	}
	t.Updated = now
	if q.Status != "" {
		t.Status = q.Status
	}
	if q.Body != nil {
		t.Body = body
	}
	return s.c.Store.PutTask(ctx, t)
}

// mostOfTask is how many executions of a task decide about its state: the newest.
const mostOfTask = 200

// settleTask has the state of an execution's task follow it. A task that there is not yet is made.
func (c Config) settleTask(ctx context.Context, x work.Execution) error {
	if x.Session == "" || x.Task == "" {
		return nil
	}
	list, err := c.Store.Recorded(ctx, work.RecordQuery{Session: x.Session, Task: x.Task, Limit: mostOfTask})
	if err != nil {
		return err
	}
	all, err := c.Store.Tasks(ctx, x.Session)
	if err != nil {
		return err
	}
	now := c.Now()
	t := work.Task{Session: x.Session, Title: x.Task, Created: now, By: x.By}
	if i := slices.IndexFunc(all, func(t work.Task) bool { return t.Title == x.Task }); i >= 0 {
		t = all[i]
	}
	status := work.TaskStatusOf(list)
	if t.Status == status {
		return nil
	}
	t.Status, t.Updated = status, now
	_, err = c.Store.PutTask(ctx, t)
	return err
}
