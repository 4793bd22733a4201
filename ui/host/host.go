// Package host contains what the features of the interface share: the threads, the dialogs, the notices, undo, and
// turning calls to the server into commands. A feature registers the actions that it handles, and its dialogs end with
// functions to run, so that neither the root nor another feature needs to know it.
//
// I/O happens only inside commands, and their results are handled in Update, so nothing needs a lock.
package host

import (
	"context"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Screen is what the root does for features.
type Screen interface {
	// PaneSize returns the size of agents' terminals.
	PaneSize() (cols, rows int)
	// Width returns the width of the screen in cells.
	Width() int
	// Redraw schedules a redraw of the screen.
	Redraw()
	// Present shows a thread that was just created or started. Its agent is focused as soon as it runs, unless the person
	// has left for the list since the task began; began is zero if it is not to be focused.
	Present(s thread.Status, began time.Time)
	// NotStarted cancels a pending focus, because the agent did not start.
	NotStarted()
}

// Server makes calls of package api: a client. Threads are named by id, name or a unique prefix of the name.
type Server interface {
	api.Doer
	api.Streamer
	api.Downloader
}

// Host is what every feature gets.
type Host struct {
	Screen  Screen
	Server  Server
	Threads *tree.Tree
	Dialogs *dialog.Stack
	Keys    *intent.Table
	Notices Notices
	Undo    Steps
	Clock   func() time.Time
	// After returns a command that sends a message after a delay.
	After func(time.Duration, tea.Msg) tea.Cmd

	ctx     context.Context
	stop    context.CancelFunc
	Actions registry
}

// New returns a host. Close cancels its calls.
func New(
	screen Screen, server Server, keys *intent.Table, clock func() time.Time, after func(time.Duration, tea.Msg) tea.Cmd,
) *Host {
	h := &Host{Screen: screen, Server: server, Dialogs: &dialog.Stack{}, Keys: keys, Clock: clock, After: after,
		Actions: newRegistry()}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Context returns a context that ends with the interface.
func (h *Host) Context() context.Context { return h.ctx }

// Close cancels running calls.
func (h *Host) Close() { h.stop() }

// Name returns a thread's display name, or its id if it is unknown.
func (h *Host) Name(id thread.ID) string {
	if s := h.Threads.Thread(id); s != nil {
		return h.Threads.Called(s)
	}
	return string(id)
}

// Gone returns why a question about a thread is obsolete, or "".
func (h *Host) Gone(id thread.ID, name string) string {
	switch s := h.Threads.Thread(id); {
	case s == nil:
		return name + " was deleted from another screen or by a verb."
	case !s.Archived.IsZero():
		return name + " was archived from another screen or by a verb."
	default:
		return ""
	}
}

// Running reports whether a thread has a terminal to show.
func Running(s *thread.Status) bool { return s.Execution != nil && s.State.State.Live() }

// Notify shows a notice in the status line for a while.
func (h *Host) Notify(level thread.Level, text string) tea.Cmd {
	return h.tell(Notice{Level: level, Text: text, At: h.Clock()})
}

// Tell is Notify for what the event log has, too.
func (h *Host) Tell(level thread.Level, text string) tea.Cmd {
	return h.tell(Notice{Level: level, Text: text, At: h.Clock(), Logged: true})
}

func (h *Host) tell(n Notice) tea.Cmd {
	n = h.Notices.Add(n)
	h.Screen.Redraw()
	return h.ShowNotice(n)
}

// ShowNotice shows an earlier notice in the status line for a while.
func (h *Host) ShowNotice(n Notice) tea.Cmd {
	gen := h.Notices.show(n)
	return h.After(NoticeTime, Reply(func() tea.Cmd {
		h.Notices.clear(gen)
		return nil
	}))
}

// Fail reports that a task failed, such as "push": in the status line, and in a dialog if it does not fit there.
func (h *Host) Fail(task string, err error) tea.Cmd {
	text := err.Error()
	if !strings.HasPrefix(text, task+":") && !strings.HasPrefix(text, task+" ") {
		text = task + ": " + text
	}
	text = "Could not " + text
	const others = 40 // cells of the status line that show something else
	if plain.Width(plain.Line(text)) > h.Screen.Width()-others || strings.Contains(text, "\n") {
		var body []dialog.Line
		for _, l := range plain.Lines(err.Error()) {
			body = append(body, dialog.Line{Text: l})
		}
		h.Dialogs.Push(dialog.NewText("could not "+task, body))
	}
	return h.Notify(thread.LevelError, text)
}

// ActOn runs what is registered for an action on a thread, whatever is selected or marked.
func (h *Host) ActOn(a intent.Action, s *thread.Status) tea.Cmd {
	if do := h.Actions.threads[a]; do != nil && s != nil {
		return do(s)
	}
	return nil
}

// Act runs what is registered for an action.
func (h *Host) Act(a intent.Action) tea.Cmd {
	if do, list := h.Actions.marked[a], h.Threads.Marked(); do != nil && len(list) > 0 {
		return do(list)
	}
	if do := h.Actions.actions[a]; do != nil {
		return do()
	}
	if do, s := h.Actions.threads[a], h.Threads.Selected(); do != nil && s != nil {
		return do(s)
	}
	return nil
}
