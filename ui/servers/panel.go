package servers

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/mcp"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// panel is the dialog with the table of servers.
type panel struct{ f *Feature }

// Title returns the title.
func (p *panel) Title() string {
	if p.f.shown == "" {
		return "MCP servers"
	}
	return "MCP servers of " + p.f.Name(p.f.shown)
}

// Scope returns the scope of its keys.
func (p *panel) Scope() intent.Scope { return intent.Servers }

// Hints returns the keys to show in its frame.
func (p *panel) Hints(layout.Box) []intent.Action {
	if p.f.table.Selected() == nil {
		return []intent.Action{intent.Cancel, intent.Help}
	}
	return []intent.Action{intent.Toggle, intent.Approve, intent.Tool, intent.Cancel, intent.Open, intent.Sort,
		intent.Relaunch, intent.Log, intent.Help}
}

// Label returns shorter words for keys.
func (p *panel) Label(a intent.Action) string {
	return map[intent.Action]string{intent.Toggle: "switch", intent.Approve: "accept", intent.Tool: "tools", intent.Sort: "sort"}[a]
}

// Size returns the size that it needs.
func (p *panel) Size(w, h int) (int, int) { return w, p.f.table.Size(w, h) }

// Draw draws the table.
func (p *panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	p.f.table.Draw(c, b, th, p.f.Keys, p.f.Clock())
}

// Click selects a server; a click on its box switches it.
func (p *panel) Click(x, y int) dialog.Result {
	if p.f.table.Click(x, y) {
		return p.Handle(intent.Toggle)
	}
	return nil
}

// Handle handles an intent.
func (p *panel) Handle(in intent.Intent) dialog.Result {
	f := p.f
	act, _ := in.(intent.Action)
	switch act {
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Help:
		return host.Stay(func() tea.Cmd { return f.Act(intent.Help) })
	case intent.Sort:
		return host.Stay(func() tea.Cmd { return f.Notify(thread.LevelInfo, "Sorted by "+f.table.Sort()) })
	case intent.Problems:
		return host.Stay(func() tea.Cmd {
			f.Dialogs.Push(dialog.NewText("problems of MCP servers", mcp.Troubles(f.table.Report())))
			return nil
		})
	default:
		return p.onServer(act)
	}
}

// onServer moves to another server, or does something with the one under the cursor.
func (p *panel) onServer(a intent.Action) dialog.Result {
	if p.f.table.Handle(a) {
		return nil
	}
	s, do := p.f.table.Selected(), p.f.action(a)
	if s == nil || do == nil {
		return nil
	}
	return host.Stay(func() tea.Cmd { return do(s) })
}

// action returns what an action does with the selected server, or nil.
func (f *Feature) action(a intent.Action) func(*thread.MCPServer) tea.Cmd {
	switch a {
	case intent.Toggle:
		return func(s *thread.MCPServer) tea.Cmd { return f.toggle(s, false) }
	case intent.SwitchNow:
		return func(s *thread.MCPServer) tea.Cmd { return f.toggle(s, true) }
	case intent.Tool:
		return f.openTools
	case intent.Approve:
		return f.askLaunch
	case intent.Open:
		return f.openDetails
	case intent.Log:
		return f.openLog
	case intent.Relaunch:
		return f.askRestart
	case intent.SignIn:
		return f.askSignIn
	default:
		return nil
	}
}
