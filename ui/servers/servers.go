// Package servers has the MCP servers of the shown thread: in the side bar, and in a panel that switches them and their
// tools, accepts what they start, restarts them and tells about them.
//
// What is shown is the server's last report for that thread. It is asked for again when something changed and, while
// the panel is open, every few seconds; one request at a time. An answer for another thread, or one that was on its way
// while something was changed here, is dropped.
package servers

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/mcp"

	tea "charm.land/bubbletea/v2"
)

// every is how often the report is asked for while the panel is open: memory and last calls change without an event.
const every = 5 * time.Second

// Server is what the feature needs from the server.
type Server interface {
	MCP(context.Context, thread.MCPQuery) (thread.MCPReport, error)
	MCPDetail(context.Context, thread.MCPAct) (thread.MCPDetail, error)
	SwitchMCP(context.Context, thread.MCPChange) (thread.MCPReport, error)
	ActMCP(context.Context, thread.MCPAct) (thread.MCPDetail, error)
}

// Feature has the MCP servers.
type Feature struct {
	*host.Host
	srv   Server
	side  mcp.Panel
	table mcp.Table

	thread thread.ID // whose servers are wanted
	shown  thread.ID // whose servers are shown
	loads  loads
	busy   map[string]bool // servers and tools that are being switched

	panel   *panel // open or closed
	tools   *tools // open or closed
	ticking bool
}

// New adds the feature to a host.
func New(h *host.Host, srv Server) *Feature {
	f := &Feature{Host: h, srv: srv, busy: map[string]bool{}}
	f.loads.again()
	h.On(intent.MCP, func() tea.Cmd {
		f.panel = &panel{f}
		h.Dialogs.Push(f.panel)
		f.loads.again()
		return f.Follow()
	})
	return f
}

// Panel returns the list for the side bar.
func (f *Feature) Panel() *mcp.Panel { return &f.side }

// Show sets the thread whose servers are wanted; "" is none.
func (f *Feature) Show(id thread.ID) {
	if id != f.thread {
		f.thread = id
		f.loads.discard()
	}
}

// Changed tells that the servers of a thread, or of all if id is empty, have changed.
func (f *Feature) Changed(id thread.ID) {
	if id == "" || id == f.thread {
		f.loads.again()
		if f.tools != nil {
			f.tools.loads.again()
		}
	}
}

// Follow loads what is out of date. Call it after every message.
func (f *Feature) Follow() tea.Cmd {
	return tea.Batch(f.load(), f.loadTools(), f.tick())
}

// load loads the report, if it is out of date and not on its way.
func (f *Feature) load() tea.Cmd {
	n, ok := f.loads.begin()
	if !ok {
		return nil
	}
	id := f.thread
	return host.Call(f.Host, host.Quick,
		func(ctx context.Context) (thread.MCPReport, error) {
			return f.srv.MCP(ctx, thread.MCPQuery{Thread: string(id)})
		},
		func(r thread.MCPReport, err error) tea.Cmd {
			if f.loads.end(n) {
				f.fill(id, r, err)
			}
			return nil
		})
}

// fill shows a report for a thread. An error keeps what is shown, unless that is of another thread.
func (f *Feature) fill(id thread.ID, r thread.MCPReport, err error) {
	if err != nil {
		drop := id != f.shown || !f.table.Known()
		f.table.Fail(err, drop)
		if drop {
			f.side.Fail(err)
		}
		return
	}
	f.shown = id
	f.side.Set(r)
	f.table.Set(r)
	f.Dialogs.Recheck()
}

// tick keeps what the open panel shows up to date.
func (f *Feature) tick() tea.Cmd {
	if f.ticking || f.panel == nil || !f.Dialogs.Has(f.panel) {
		return nil
	}
	f.ticking = true
	return f.After(every, host.Reply(func() tea.Cmd {
		f.ticking = false
		if f.Dialogs.Has(f.panel) {
			f.loads.again()
		}
		return nil
	}))
}

// find returns a server of the report that is shown, or nil.
func (f *Feature) find(id string) *thread.MCPServer {
	for _, s := range f.table.Report().Servers {
		if ref(&s) == id {
			return &s
		}
	}
	return nil
}

// ref returns what names a server in calls.
func ref(s *thread.MCPServer) string {
	if s.ID != "" {
		return s.ID
	}
	return s.Name
}

// Selected returns the id of the server under the cursor of the panel, or "".
func (f *Feature) Selected() string {
	if s := f.table.Selected(); s != nil {
		return ref(s)
	}
	return ""
}
