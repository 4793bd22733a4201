package servers

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/mcp"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// toggle switches a server on or off; with now it is switched off at once, also in the middle of a turn.
func (f *Feature) toggle(s *thread.MCPServer, now bool) tea.Cmd {
	name := mcp.Name(s)
	switch {
	case f.shown == "":
		return f.Notify(thread.LevelInfo, "Select a thread to switch its servers")
	case now && !s.On:
		return f.Notify(thread.LevelInfo, name+" is off")
	case !s.On && !s.Accepted:
		return f.Notify(thread.LevelWarn, name+" is not accepted: "+f.key(intent.Approve)+" shows what it starts")
	}
	// A server that goes off at the end of the turn is switched on again.
	c := thread.MCPChange{Thread: string(f.shown), Server: ref(s), On: !now && (!s.On || s.Ending), Force: now}
	return f.change("switch "+name, c, func(r thread.MCPReport) string { return f.switched(name, c, r) })
}

// switched says what became of a switch.
func (f *Feature) switched(name string, c thread.MCPChange, r thread.MCPReport) string {
	for i := range r.Servers {
		s := &r.Servers[i]
		switch {
		case ref(s) != c.Server:
		case s.Ending:
			return name + ": off at the end of the turn; " + f.key(intent.SwitchNow) + " switches it off at once"
		case s.On && r.Takes != "":
			return name + " on, takes effect " + plain.Cut(plain.Line(r.Takes), 60)
		case s.On:
			return name + " on"
		default:
			return name + " off"
		}
	}
	return name + " is not configured any more"
}

// change makes a change, shows the report that follows, and says what was done. While a change of the same server or
// tool is on its way there is nothing to see that another one could be meant for.
func (f *Feature) change(task string, c thread.MCPChange, done func(thread.MCPReport) string) tea.Cmd {
	what := c.Thread + "/" + c.Server + "/" + c.Tool
	if f.busy[what] {
		return nil
	}
	f.busy[what] = true
	return host.Call(f.Host, host.Slow,
		func(ctx context.Context) (thread.MCPReport, error) { return f.srv.SwitchMCP(ctx, c) },
		func(r thread.MCPReport, err error) tea.Cmd {
			delete(f.busy, what)
			f.stale()
			if err != nil {
				return f.Fail(task, err)
			}
			if c.Thread == string(f.thread) {
				f.fill(f.thread, r, nil)
			}
			return f.Notify(thread.LevelInfo, done(r))
		})
}

// stale says that something was changed here, so that everything that is shown is loaded again, and what is on its way
// may be from before.
func (f *Feature) stale() {
	f.loads.discard()
	if f.tools != nil {
		f.tools.loads.discard()
	}
}

// key returns the label of a key of the panel.
func (f *Feature) key(a intent.Action) string {
	for _, b := range f.Keys.Bindings(intent.Servers) {
		if b.Action == a {
			return b.Label()
		}
	}
	return ""
}
