// Package servers has the MCP servers of the shown thread: in the side bar, and in a panel that switches them and their
// tools, accepts what they start, restarts them and tells about them.
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
	*reports
	panel   *panel // open or closed
	ticking bool
}

// New adds the feature to a host.
func New(h *host.Host, srv Server) *Feature {
	f := &Feature{reports: &reports{Host: h, srv: srv, busy: map[string]bool{}}}
	f.panel = &panel{reports: f.reports}
	f.again()
	h.On(intent.MCP, func() tea.Cmd {
		f.panel = &panel{reports: f.reports}
		h.Dialogs.Push(f.panel)
		f.again()
		return f.Follow()
	})
	return f
}

// Panel returns the list for the side bar.
func (f *Feature) Panel() *mcp.Panel { return &f.side }

// Selected returns the id of the server under the cursor of the panel, or "".
func (f *Feature) Selected() string {
	if s := f.table.Selected(); s != nil {
		return ref(s)
	}
	return ""
}

// Show sets the thread whose servers are wanted; "" is none.
func (f *Feature) Show(id thread.ID) {
	if id != f.thread {
		f.thread = id
		f.discard()
	}
}

// Changed tells that the servers of a thread, or of all if id is empty, have changed.
func (f *Feature) Changed(id thread.ID) {
	if id == "" || id == f.thread {
		f.again()
	}
}

// Follow loads what is out of date. Call it after every message.
func (f *Feature) Follow() tea.Cmd { return tea.Batch(f.load(), f.panel.follow(), f.tick()) }

// tick keeps what the open panel shows up to date.
func (f *Feature) tick() tea.Cmd {
	if f.ticking || !f.Dialogs.Has(f.panel) {
		return nil
	}
	f.ticking = true
	return f.After(every, host.Reply(func() tea.Cmd {
		f.ticking = false
		if f.Dialogs.Has(f.panel) {
			f.again()
		}
		return nil
	}))
}
