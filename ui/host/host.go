// Package host is what the features of the interface share: the threads as they are known, the dialogs, the notices,
// what can be undone, and how a call of the server becomes a command. A feature registers the actions that it answers,
// and its dialogs end in what it does then, so that neither the root nor another feature has to know it.
//
// Nothing here does I/O but inside of a command, and what a command brings is acted upon in Update: nothing needs a
// lock.
package host

import (
	"context"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// Screen is what the root does for features.
type Screen interface {
	// PaneSize is the size of the terminal that agents get.
	PaneSize() (cols, rows int)
	// Width is the width of the screen in cells.
	Width() int
	// Redraw has the screen drawn again.
	Redraw()
	// Present shows a thread that was just made or started; with focus its agent gets the keys as soon as it runs.
	Present(s thread.Status, focus bool)
	// NotStarted takes back that an agent is to get the keys: it does not run.
	NotStarted()
}

// Host is what every feature gets.
type Host struct {
	Screen
	Threads *tree.Tree
	Dialogs *dialog.Stack
	Keys    *intent.Table
	Notices Notices
	Undo    Steps
	Clock   func() time.Time
	// After makes the command that ends in a message after a while.
	After func(time.Duration, tea.Msg) tea.Cmd

	ctx  context.Context
	stop context.CancelFunc
	registry
}

// New makes a host; calls end with Close.
func New(screen Screen, keys *intent.Table, clock func() time.Time, after func(time.Duration, tea.Msg) tea.Cmd) *Host {
	h := &Host{Screen: screen, Dialogs: &dialog.Stack{}, Keys: keys, Clock: clock, After: after, registry: newRegistry()}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// Context ends with the interface.
func (h *Host) Context() context.Context { return h.ctx }

// Close ends the calls that are under way.
func (h *Host) Close() { h.stop() }

// Name returns a thread's name, its id where it is not known.
func (h *Host) Name(id thread.ID) string {
	if s := h.Threads.Thread(id); s != nil {
		return s.DisplayName()
	}
	return string(id)
}

// Gone says why there is nothing to ask about a thread any more, "" while there is.
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

// Tell puts a notice into the status line for a while.
func (h *Host) Tell(level thread.Level, text string) tea.Cmd {
	n := Notice{Level: level, Text: text, At: h.Clock()}
	h.Notices.Note(n)
	h.Redraw()
	return h.ShowNotice(n)
}

// ShowNotice puts a notice that was told before into the status line for a while.
func (h *Host) ShowNotice(n Notice) tea.Cmd {
	gen := h.Notices.show(n)
	return h.After(NoticeTime, Reply(func() tea.Cmd {
		h.Notices.over(gen)
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
	if plain.Width(plain.Line(text)) > h.Width()-others || strings.Contains(text, "\n") {
		var body []dialog.Line
		for _, l := range plain.Lines(err.Error()) {
			body = append(body, dialog.Line{Text: l})
		}
		h.Dialogs.Push(dialog.NewText("could not "+task, body))
	}
	return h.Tell(thread.LevelError, text)
}

// Act does what is registered for an action.
func (h *Host) Act(a intent.Action) tea.Cmd {
	if do := h.actions[a]; do != nil {
		return do()
	}
	if do, s := h.threads[a], h.Threads.Selected(); do != nil && s != nil {
		return do(s)
	}
	return nil
}
