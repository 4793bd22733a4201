package servers

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"
	"orchestrator/ui/mcp"

	tea "charm.land/bubbletea/v2"
)

// reports has the last report for the thread that is shown.
type reports struct {
	*host.Host
	side  mcp.Panel
	table mcp.Table

	thread thread.ID // whose servers are wanted
	shown  thread.ID // whose servers are shown
	loads  loads
	busy   map[string]bool // servers and tools that are being switched
	// events counts what made reports out of date, and changes what was done here and did so.
	events, changes int
}

// again notes that the report is out of date.
func (r *reports) again() {
	r.loads.again()
	r.events++
}

// discard notes that something was changed here, so that what is on its way may be from before.
func (r *reports) discard() {
	r.loads.discard()
	r.changes++
}

// load loads the report, if it is out of date and not on its way.
func (r *reports) load() tea.Cmd {
	n, ok := r.loads.begin()
	if !ok {
		return nil
	}
	id := r.thread
	return host.Call(r.Host, host.Quick, api.MCP.On(r.Server, thread.MCPQuery{Thread: string(id)}),
		func(got thread.MCPReport, err error) tea.Cmd {
			if r.loads.end(n) {
				r.fill(id, got, err)
			}
			return nil
		})
}

// fill shows a report for a thread. An error keeps what is shown, unless that is of another thread.
func (r *reports) fill(id thread.ID, got thread.MCPReport, err error) {
	if err != nil {
		drop := id != r.shown || !r.table.Known()
		r.table.Fail(err, drop)
		if drop {
			r.side.Fail(err)
		}
		return
	}
	r.shown = id
	r.side.Set(got)
	r.table.Set(got)
	r.Dialogs.Recheck()
}

// find returns a server of the report that is shown, or nil.
func (r *reports) find(id string) *thread.MCPServer {
	for _, s := range r.table.Report().Servers {
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
