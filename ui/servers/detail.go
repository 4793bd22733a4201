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

// detail asks for everything about a server.
func (f *Feature) detail(server string, then func(thread.MCPDetail, error) tea.Cmd) tea.Cmd {
	q := thread.MCPAct{Server: server, Thread: string(f.shown)}
	return host.Call(f.Host, host.Quick,
		func(ctx context.Context) (thread.MCPDetail, error) { return f.srv.MCPDetail(ctx, q) }, then)
}

// openDetails shows everything about a server.
func (f *Feature) openDetails(s *thread.MCPServer) tea.Cmd {
	return f.openText(s, mcp.Name(s), func(d thread.MCPDetail) []dialog.Line { return mcp.Details(d, f.Keys, f.Clock()) })
}

// openLog shows what a server printed.
func (f *Feature) openLog(s *thread.MCPServer) tea.Cmd {
	return f.openText(s, "log of "+mcp.Name(s), mcp.Log)
}

// openText shows a text that is made of everything about a server.
func (f *Feature) openText(s *thread.MCPServer, title string, text func(thread.MCPDetail) []dialog.Line) tea.Cmd {
	open := dialog.NewText(title, waiting())
	f.Dialogs.Push(open)
	return f.detail(ref(s), func(d thread.MCPDetail, err error) tea.Cmd {
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
