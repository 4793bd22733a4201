package host

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// How long calls may take: reading, and what starts processes or moves files.
const (
	Quick = 30 * time.Second
	Slow  = 5 * time.Minute
)

// Call runs a call of the server with a time limit; then acts on what it brought, in Update.
func Call[T any](h *Host, limit time.Duration, do func(context.Context) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(h.ctx, limit)
		defer cancel()
		got, err := do(ctx)
		return Reply(func() tea.Cmd { return then(got, err) })
	}
}

// Change runs something that changes a thread; what is said when it worked.
func (h *Host) Change(what string, do func(context.Context) error, undo *Step) tea.Cmd {
	return Call(h, Slow, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) },
		func(_ struct{}, err error) tea.Cmd { return h.changed(what, err, undo) })
}

// Begin is Change for what takes a while: it says first what is under way.
func (h *Host) Begin(doing, what string, do func(context.Context) error, undo *Step) tea.Cmd {
	return tea.Batch(h.Tell(thread.LevelInfo, doing), h.Change(what, do, undo))
}

func (h *Host) changed(what string, err error, undo *Step) tea.Cmd {
	if err != nil {
		if what == "" {
			return h.Fail("that did not work", err)
		}
		return h.Fail("not "+what, err)
	}
	if undo != nil {
		h.Undo.Did(*undo)
		if undo.Never == "" {
			what += "; " + h.Keys.KeyOf(intent.Undo) + " takes it back"
		}
	}
	if what == "" {
		return nil
	}
	return h.Tell(thread.LevelInfo, what)
}

// Start runs something that ends in a thread to be shown. What is told where it failed, said where it worked.
func (h *Host) Start(what, said string, focus bool, do func(context.Context) (thread.Status, error)) tea.Cmd {
	return Call(h, Slow, do, func(s thread.Status, err error) tea.Cmd {
		switch {
		case err != nil:
			h.NotStarted()
			return h.Fail(what, err)
		case s.ID == "":
			return nil
		}
		h.Present(s, focus)
		return h.Tell(thread.LevelInfo, s.DisplayName()+" "+said)
	})
}
