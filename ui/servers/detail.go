package servers

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/mcp"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// fetch asks for everything about a server.
func (r *reports) fetch(server string, then func(thread.MCPDetail, error) tea.Cmd) tea.Cmd {
	q := thread.MCPAct{Server: server, Thread: string(r.shown)}
	return host.Call(r.Host, host.Quick,
		func(ctx context.Context) (thread.MCPDetail, error) { return r.srv.MCPDetail(ctx, q) }, then)
}

// openDetails shows everything about a server.
func (r *reports) openDetails(s *thread.MCPServer) tea.Cmd {
	return r.openText(s, mcp.Name(s), func(d thread.MCPDetail) []dialog.Line { return mcp.Details(d, r.Keys, r.Clock()) })
}

// openLog shows what a server printed.
func (r *reports) openLog(s *thread.MCPServer) tea.Cmd {
	return r.openText(s, "log of "+mcp.Name(s), mcp.Log)
}

// openText shows a text that is made of everything about a server.
func (r *reports) openText(s *thread.MCPServer, title string, text func(thread.MCPDetail) []dialog.Line) tea.Cmd {
	open := dialog.NewText(title, waiting())
	r.Dialogs.Push(open)
	return r.fetch(ref(s), func(d thread.MCPDetail, err error) tea.Cmd {
		if err != nil {
			open.Set(failed(err))
			return nil
		}
		open.Set(text(d))
		return nil
	})
}

// waiting is what is shown before something is loaded.
func waiting() []dialog.Line { return []dialog.Line{{Text: "…", Tok: theme.Muted}} }

// failed is what is shown if something could not be loaded.
func failed(err error) []dialog.Line { return []dialog.Line{{Text: err.Error(), Tok: theme.Bad}} }
