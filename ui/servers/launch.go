package servers

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/mcp"

	tea "charm.land/bubbletea/v2"
)

// askLaunch shows exactly what a server starts, and asks whether to accept that. What is accepted is what was shown,
// whatever is configured by then.
func (r *reports) askLaunch(s *thread.MCPServer) tea.Cmd {
	return r.askLaunchIn(s, string(r.shown))
}

// askLaunchIn is askLaunch for what a server starts in a thread; "" is the project's own folder.
func (r *reports) askLaunchIn(s *thread.MCPServer, in string) tea.Cmd {
	id, name, was := ref(s), mcp.Name(s), s.Hash
	ask := dialog.NewAsk("accept "+name+"?", waiting(), dialog.Cancel("Close"))
	r.Dialogs.Push(ask)
	return r.fetchIn(in, id, func(d thread.MCPDetail, err error) tea.Cmd {
		if err != nil {
			ask.Set(failed(err), dialog.Cancel("Close"))
			return nil
		}
		ask.Until(func() string {
			now := r.find(id)
			switch {
			case in != string(r.shown) || now == nil || now.Hash == "" || now.Hash == d.Hash || now.Hash == was:
				return ""
			default:
				return "What it starts has changed meanwhile. Look at it again."
			}
		})
		ask.Set(mcp.Launch(d), r.answers(thread.MCPAct{Server: id, Thread: in}, name, d)...)
		return nil
	})
}

// answers returns what can be done with what a server starts; a names the server.
func (r *reports) answers(a thread.MCPAct, name string, d thread.MCPDetail) []dialog.Choice {
	switch {
	case d.Hash == "" || len(d.Launch) == 0:
		return []dialog.Choice{dialog.Cancel("Close")}
	case d.Accepted:
		a.Act = "revoke"
		return []dialog.Choice{dialog.Cancel("Close"), {Label: "Revoke", Danger: true, Result: host.Do(func() tea.Cmd {
			return r.act("revoke "+name, name+" is not accepted any more", a)
		})}}
	default:
		a.Act, a.Hash = "approve", d.Hash
		return []dialog.Choice{dialog.Cancel("Cancel"), {Label: "Accept", Read: true, Result: host.Do(func() tea.Cmd {
			return r.act("accept "+name, name+" accepted", a)
		})}}
	}
}
