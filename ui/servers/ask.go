package servers

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/mcp"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// askRestart asks whether to restart a server.
func (r *reports) askRestart(s *thread.MCPServer) tea.Cmd {
	name, a := mcp.Name(s), thread.MCPAct{Act: "restart", Server: ref(s), Thread: string(r.shown)}
	if !s.Accepted {
		return r.Notify(thread.LevelWarn, name+" is not accepted and does not run")
	}
	text := "Calls that are under way fail."
	if s.Share == "project" {
		text += " It is shared: those of other threads fail too."
	}
	r.Dialogs.Push(dialog.NewAsk("restart "+name+"?", dialog.Plain(text), dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Restart", Result: host.Do(func() tea.Cmd { return r.act("restart "+name, name+" restarted", a) })}))
	return nil
}

// askSignIn asks whether to sign in at a server that needs it.
func (r *reports) askSignIn(s *thread.MCPServer) tea.Cmd {
	name, a := mcp.Name(s), thread.MCPAct{Act: "login", Server: ref(s), Thread: string(r.shown)}
	if s.State != "needs-auth" {
		return r.Notify(thread.LevelInfo, name+" does not ask to sign in")
	}
	r.Dialogs.Push(dialog.NewAsk("sign in at "+name+"?", []dialog.Line{{Text: "Your browser opens for this server:"}, {}, target(s)},
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Sign in", Result: host.Do(func() tea.Cmd {
			return tea.Batch(r.Notify(thread.LevelInfo, "Sign in at "+name+" in your browser …"),
				r.act("sign in at "+name, "Signed in at "+name, a))
		})}))
	return nil
}

// target is where a server is reached, exactly.
func target(s *thread.MCPServer) dialog.Line {
	return dialog.Line{Text: "▸ " + plain.Exact(s.Target), Tok: theme.Code}
}
