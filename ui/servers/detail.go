package servers

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/mcp"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// fetch asks for everything about a server.
func (r *reports) fetch(server string, then func(thread.MCPDetail, error) tea.Cmd) tea.Cmd {
	return r.fetchIn(string(r.shown), server, then)
}

// fetchIn asks for everything about a server as a thread has it; "" is the project's own folder.
func (r *reports) fetchIn(in, server string, then func(thread.MCPDetail, error) tea.Cmd) tea.Cmd {
	q := thread.MCPAct{Server: server, Thread: in}
	return host.Call(r.Host, host.Quick, api.MCPDetail.On(r.Server, q), then)
}

// openDetails shows everything about a server.
func (r *reports) openDetails(s *thread.MCPServer) tea.Cmd {
	open := dialog.NewText(mcp.Name(s), waiting())
	return r.openText(s, open, func(d thread.MCPDetail) { open.Set(mcp.Details(d, r.Keys, r.Clock())) })
}

// openLog shows what a server printed, at its end.
func (r *reports) openLog(s *thread.MCPServer) tea.Cmd {
	open := dialog.NewText("log of "+mcp.Name(s), waiting())
	return r.openText(s, open, func(d thread.MCPDetail) { open.SetAtEnd(mcp.Log(d)) })
}

// openText opens a text, and fills it once everything about a server is loaded.
func (r *reports) openText(s *thread.MCPServer, open *dialog.Text, fill func(thread.MCPDetail)) tea.Cmd {
	r.Dialogs.Push(open)
	return r.fetch(ref(s), func(d thread.MCPDetail, err error) tea.Cmd {
		if err != nil {
			open.Set(failed(err))
			return nil
		}
		fill(d)
		return nil
	})
}

// waiting is what is shown before something is loaded.
func waiting() []dialog.Line { return []dialog.Line{{Text: "…", Tok: theme.Muted}} }

// failed is what is shown if something could not be loaded.
func failed(err error) []dialog.Line { return []dialog.Line{{Text: err.Error(), Tok: theme.Bad}} }
