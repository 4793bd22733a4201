package servers

import (
	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/mcp"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// toggle switches a server on or off; with now it is switched off at once, also in the middle of a turn.
func (r *reports) toggle(s *thread.MCPServer, now bool) tea.Cmd {
	name := mcp.Name(s)
	switch {
	case r.shown == "":
		return r.Notify(thread.LevelInfo, "Select a thread to switch its servers")
	case now && !s.On:
		return r.Notify(thread.LevelInfo, name+" is off")
	case !s.On && !s.Accepted:
		return r.Notify(thread.LevelWarn, name+" is not accepted: "+r.Keys.KeyOf(intent.Approve)+" shows what it starts")
	}
	// A server that goes off at the end of the turn is switched on again.
	c := thread.MCPChange{Thread: string(r.shown), Server: ref(s), On: !now && (!s.On || s.Ending), Force: now}
	return r.change("switch "+name, c, func(got thread.MCPReport) string { return r.switched(name, c, got) })
}

// switched returns what became of a switch.
func (r *reports) switched(name string, c thread.MCPChange, got thread.MCPReport) string {
	for i := range got.Servers {
		s := &got.Servers[i]
		switch {
		case ref(s) != c.Server:
		case s.Ending:
			return name + ": off at the end of the turn; " + r.Keys.KeyOf(intent.SwitchNow) + " switches it off at once"
		case s.On && got.Takes != "":
			return name + " on, takes effect " + plain.Cut(plain.Line(got.Takes), 60)
		case s.On:
			return name + " on"
		default:
			return off(name, s)
		}
	}
	return name + " is not configured any more"
}

// off says that a server or a tool of it is off, and what that leaves.
func off(name string, s *thread.MCPServer) string {
	if s.Kept == "" {
		return name + " off"
	}
	return name + " off: " + plain.Cut(plain.Line(s.Kept), 120)
}
