package servers

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/mcp"

	tea "charm.land/bubbletea/v2"
)

// act does something to a server, and says what was done.
func (f *Feature) act(task, done string, a thread.MCPAct) tea.Cmd {
	return host.Call(f.Host, host.Slow,
		func(ctx context.Context) (thread.MCPDetail, error) { return f.srv.ActMCP(ctx, a) },
		func(_ thread.MCPDetail, err error) tea.Cmd {
			f.stale()
			if err != nil {
				return f.Fail(task, err)
			}
			return f.Notify(thread.LevelInfo, done)
		})
}

// askRestart asks whether to restart a server.
func (f *Feature) askRestart(s *thread.MCPServer) tea.Cmd {
	name, a := mcp.Name(s), thread.MCPAct{Act: "restart", Server: ref(s), Thread: string(f.shown)}
	if !s.Accepted {
		return f.Notify(thread.LevelWarn, name+" is not accepted: nothing of it runs")
	}
	text := "Calls that are under way fail."
	if s.Share == "project" {
		text += " It is shared: those of other threads fail too."
	}
	f.Dialogs.Push(dialog.NewAsk("restart "+name+"?", dialog.Plain(text), dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Restart", Result: host.Do(func() tea.Cmd { return f.act("restart "+name, name+" restarted", a) })}))
	return nil
}

// askSignIn asks whether to sign in at a server that needs it.
func (f *Feature) askSignIn(s *thread.MCPServer) tea.Cmd {
	name, a := mcp.Name(s), thread.MCPAct{Act: "login", Server: ref(s), Thread: string(f.shown)}
	if s.State != "needs-auth" {
		return f.Notify(thread.LevelInfo, name+" does not ask to sign in")
	}
	f.Dialogs.Push(dialog.NewAsk("sign in at "+name+"?", []dialog.Line{{Text: "Your browser opens for this server:"}, {}, target(s)},
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Sign in", Result: host.Do(func() tea.Cmd {
			return tea.Batch(f.Notify(thread.LevelInfo, "Sign in at "+name+" in your browser …"),
				f.act("sign in at "+name, "Signed in at "+name, a))
		})}))
	return nil
}
