package host

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Time limits of calls: Quick for reads, Slow for calls that start processes or move files.
const (
	Quick = 30 * time.Second
	Slow  = 5 * time.Minute
)

// Call calls the server with a time limit and hands the result to then, inside Update.
func Call[T any](
	h *Host, limit time.Duration, do func(context.Context) (T, error), then func(T, error) tea.Cmd,
) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(h.ctx, limit)
		defer cancel()
		got, err := do(ctx)
		return Reply(func() tea.Cmd { return then(got, err) })
	}
}

// Change runs a task that changes a thread. It shows done if it succeeds, and names the task if it fails.
func (h *Host) Change(task, done string, do func(context.Context) error, undo *Step) tea.Cmd {
	return Call(h, Slow, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) },
		func(_ struct{}, err error) tea.Cmd { return h.changed(task, done, err, undo) })
}

// Begin is Change for a task that takes a while: it shows a progress message first.
func (h *Host) Begin(progress, task, done string, do func(context.Context) error, undo *Step) tea.Cmd {
	return tea.Batch(h.Notify(thread.LevelInfo, progress), h.Change(task, done, do, undo))
}

func (h *Host) changed(task, done string, err error, undo *Step) tea.Cmd {
	if err != nil {
		return h.Fail(task, err)
	}
	if undo != nil {
		h.Undo.Add(*undo)
		if undo.CannotUndo == "" {
			done += " (" + h.Keys.KeyOf(intent.Undo) + " to undo)"
		}
	}
	if done == "" {
		return nil
	}
	return h.Notify(thread.LevelInfo, done)
}

// Start runs a task that ends with a thread to show. On success it shows the thread's name followed by done.
func (h *Host) Start(
	task, done string, focus bool, do func(context.Context) (thread.Status, error),
) tea.Cmd {
	var began time.Time
	if focus {
		began = h.Clock()
	}
	return Call(h, Slow, do, func(s thread.Status, err error) tea.Cmd {
		switch {
		case err != nil:
			h.Screen.NotStarted()
			return h.Fail(task, err)
		case s.ID == "":
			return nil
		}
		h.Screen.Present(s, began)
		return h.Notify(thread.LevelInfo, h.Name(s.ID)+" "+done)
	})
}
