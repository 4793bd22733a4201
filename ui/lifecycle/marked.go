package lifecycle

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// each runs something for each of several threads, and takes their marks.
func (f *Feature) each(list []*thread.Status, do func(thread.ID) tea.Cmd) func() tea.Cmd {
	ids := make([]thread.ID, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return func() tea.Cmd {
		f.Threads.Unmark()
		var all []tea.Cmd
		for _, id := range ids {
			all = append(all, do(id))
		}
		return tea.Batch(all...)
	}
}

// names returns a line for each thread.
func names(list []*thread.Status) []dialog.Line {
	var body []dialog.Line
	for _, s := range list {
		body = append(body, dialog.Line{Text: "  " + s.TypedName(), Tok: theme.Muted})
	}
	return body
}

func (f *Feature) stopAll(list []*thread.Status) tea.Cmd {
	var running []*thread.Status
	for _, s := range list {
		if host.Running(s) {
			running = append(running, s)
		}
	}
	if len(running) == 0 {
		return f.Notify(thread.LevelInfo, "None of the marked threads has a running agent")
	}
	f.confirm(fmt.Sprintf("stop %d agents?", len(running)),
		append(dialog.Plain("The threads stay and can be resumed. Turns in progress are cut off."), names(running)...),
		"Stop", f.each(running, f.stop), func() string { return "" })
	return nil
}

func (f *Feature) archiveAll(list []*thread.Status) tea.Cmd {
	f.confirm(fmt.Sprintf("archive %d threads?", len(list)),
		append(dialog.Plain("They move to the archive, with everything in them. Agents that run are stopped, worktrees stay."), names(list)...),
		"Archive", f.each(list, f.Archive), func() string { return "" })
	return nil
}

func (f *Feature) readAll(list []*thread.Status) tea.Cmd {
	return f.each(list, func(id thread.ID) tea.Cmd {
		if s := f.Threads.Thread(id); s != nil && s.State.State == thread.StateDone {
			return f.read(s)
		}
		return nil
	})()
}
