// Package servers shows the MCP servers of the selected thread: in the side bar, and in a panel that switches them and
// their tools, accepts what they start, restarts them and tells about them.
//
// What is shown is the server's last report for that thread. It is asked for again when something changed and, while
// the panel is open, every few seconds; one request at a time. An answer for another thread, or one that was on its way
// while something was changed here, is dropped.
package servers

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/mcp"

	tea "charm.land/bubbletea/v2"
)

// every is how often the report is asked for while the panel is open: memory and last calls change without an event.
const every = 5 * time.Second

// Feature has the MCP servers.
type Feature struct {
	reports *reports
	panel   *panel // open or closed
	ticking bool
}

// New adds the feature to a host.
func New(h *host.Host) *Feature {
	f := &Feature{reports: &reports{Host: h, busy: map[string]bool{}}}
	f.panel = &panel{reports: f.reports}
	f.reports.again()
	h.Actions.On(intent.MCP, func() tea.Cmd {
		f.panel = &panel{reports: f.reports}
		h.Dialogs.Push(f.panel)
		f.reports.again()
		return f.Follow()
	})
	return f
}

// Review shows what a server starts in the project's own folder, and asks whether to accept it.
func (f *Feature) Review(s thread.MCPServer) tea.Cmd { return f.reports.askLaunchIn(&s, "") }

// Panel returns the list for the side bar.
func (f *Feature) Panel() *mcp.Panel { return &f.reports.side }

// Selected returns the id of the server under the cursor of the panel, or "".
func (f *Feature) Selected() string {
	if s := f.reports.table.Selected(); s != nil {
		return ref(s)
	}
	return ""
}

// Show sets the thread whose servers are wanted; "" is none.
func (f *Feature) Show(id thread.ID) {
	if id != f.reports.thread {
		f.reports.thread = id
		f.reports.discard()
	}
}

// Changed tells that the servers of a thread, or of all if id is empty, have changed.
func (f *Feature) Changed(id thread.ID) {
	if id == "" || id == f.reports.thread {
		f.reports.again()
	}
}

// Follow loads what is out of date. Call it after every message.
func (f *Feature) Follow() tea.Cmd { return tea.Batch(f.reports.load(), f.panel.follow(), f.tick()) }

// tick keeps what the open panel shows up to date.
func (f *Feature) tick() tea.Cmd {
	if f.ticking || !f.reports.Dialogs.Has(f.panel) {
		return nil
	}
	f.ticking = true
	return f.reports.After(every, host.Reply(func() tea.Cmd {
		f.ticking = false
		if f.reports.Dialogs.Has(f.panel) {
			f.reports.again()
		}
		return nil
	}))
}
