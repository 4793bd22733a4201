// Package servers lists the MCP servers: briefly in the side bar, and in detail in a dialog.
package servers

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/mcp"

	tea "charm.land/bubbletea/v2"
)

// Server is what the feature needs from the server.
type Server interface {
	MCP(context.Context, thread.MCPQuery) (thread.MCPReport, error)
	MCPDetail(context.Context, thread.MCPAct) (thread.MCPDetail, error)
	SwitchMCP(context.Context, thread.MCPChange) (thread.MCPReport, error)
	ActMCP(context.Context, thread.MCPAct) (thread.MCPDetail, error)
}

// Feature lists the MCP servers.
type Feature struct {
	*host.Host
	srv   Server
	panel mcp.Panel
	open  *dialog.Text // the dialog, open or closed
}

// New adds the feature to a host.
func New(h *host.Host, srv Server) *Feature {
	f := &Feature{Host: h, srv: srv}
	h.On(intent.MCP, func() tea.Cmd {
		f.open = dialog.NewText("MCP servers", dialog.Plain(f.panel.Details()...))
		h.Dialogs.Push(f.open)
		return f.Load()
	})
	return f
}

// Panel returns the list for the side bar.
func (f *Feature) Panel() *mcp.Panel { return &f.panel }

// Load loads the servers.
func (f *Feature) Load() tea.Cmd {
	load := func(ctx context.Context) (thread.MCPReport, error) { return f.srv.MCP(ctx, thread.MCPQuery{}) }
	return host.Call(f.Host, host.Quick, load, func(all thread.MCPReport, err error) tea.Cmd {
		if err != nil {
			return f.Fail("list the MCP servers", err)
		}
		f.panel.Set(all.Servers)
		if f.open != nil {
			f.open.Set(dialog.Plain(f.panel.Details()...))
		}
		return nil
	})
}
