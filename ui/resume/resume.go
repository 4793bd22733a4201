// Package resume resumes the agents of threads: of one, of all interrupted ones, or of some chosen from a list.
package resume

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature resumes agents.
type Feature struct {
	*host.Host
}

// New adds the feature to a host.
func New(h *host.Host) *Feature {
	f := &Feature{Host: h}
	h.Actions.OnThread(intent.Resume, f.resume)
	h.Actions.On(intent.Resumes, func() tea.Cmd {
		if !f.Offer() {
			return h.Notify(thread.LevelInfo, "No interrupted threads")
		}
		return nil
	})
	h.Actions.On(intent.ResumeAll, f.openAll)
	return f
}

func (f *Feature) resume(s *thread.Status) tea.Cmd {
	if host.Running(s) {
		return f.Notify(thread.LevelInfo, f.Name(s.ID)+" is already running")
	}
	return f.Begin(s, false)
}

// Begin resumes an agent; with focus it is focused as soon as it runs.
func (f *Feature) Begin(s *thread.Status, focus bool) tea.Cmd {
	id, name := s.ID, f.Name(s.ID)
	return f.HandOver(s.RunsLines && s.Turn > 0, func(agreed bool) tea.Cmd {
		what := "Resuming "
		if s.Runs() {
			what = "Taking over "
		}
		return tea.Batch(f.Notify(thread.LevelInfo, what+name+" …"), f.one(id, focus, agreed))
	})
}

// openAll asks whether to resume all interrupted threads.
func (f *Feature) openAll() tea.Cmd {
	left := f.interrupted()
	if len(left) == 0 {
		return f.Notify(thread.LevelInfo, "No interrupted threads")
	}
	body := dialog.Plain(plain.Count(len(left), "agent") + " to resume:")
	const most = 8
	for i, id := range left {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(left)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: "  " + f.Name(id), Tok: theme.Muted})
	}
	f.Dialogs.Push(dialog.NewAsk("resume all?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Resume all", Result: host.Do(f.All)}).
		Until(func() string {
			if len(f.interrupted()) == 0 {
				return "There are no interrupted threads any more."
			}
			return ""
		}))
	return nil
}

// interrupted returns the threads that can be resumed.
func (f *Feature) interrupted() []thread.ID {
	var left []thread.ID
	for _, s := range f.Threads.All() {
		if s.State.State == thread.StateInterrupted && s.Archived.IsZero() && s.Outcome.Kind == thread.OutcomeNone {
			left = append(left, s.ID)
		}
	}
	return left
}

// Offer opens the list of interrupted threads, and reports whether there are any.
func (f *Feature) Offer() bool {
	left := f.interrupted()
	if len(left) == 0 {
		return false
	}
	f.Dialogs.Push(newThreads(left, f.Threads.Thread, func(id thread.ID) tea.Cmd { return f.one(id, false, false) }, f.All))
	return true
}

func (f *Feature) one(id thread.ID, focus, handOver bool) tea.Cmd {
	cols, rows := f.Screen.PaneSize()
	return f.Start("resume", "resumed", focus, api.Resume.On(f.Server,
		api.ResumeRequest{Thread: string(id), Cols: cols, Rows: rows, HandOver: handOver}))
}

// All resumes all interrupted threads.
func (f *Feature) All() tea.Cmd {
	cols, rows := f.Screen.PaneSize()
	return tea.Batch(f.Notify(thread.LevelInfo, "Resuming all …"), host.Call(f.Host, host.Slow,
		api.ResumeAll.On(f.Server, api.ResumeRequest{Cols: cols, Rows: rows}),
		func(all []thread.Status, err error) tea.Cmd {
			if err != nil {
				return f.Fail("resume all", err)
			}
			for _, s := range all {
				f.Threads.Put(s)
			}
			return f.Notify(thread.LevelInfo, plain.Count(len(all), "thread")+" resumed")
		}))
}
