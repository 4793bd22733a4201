package servers

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/mcp"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// panel is the dialog with the table of servers.
type panel struct {
	reports *reports
	tools   *tools // open or closed
}

// Title returns the title.
func (p *panel) Title() string {
	if p.reports.shown == "" {
		return "MCP servers"
	}
	return "MCP servers of " + p.reports.Name(p.reports.shown)
}

// Scope returns the scope of its keys.
func (p *panel) Scope() intent.Scope { return intent.Servers }

// Hints returns the keys to show in its frame.
func (p *panel) Hints(layout.Box) []intent.Action {
	if p.reports.table.Selected() == nil {
		return []intent.Action{intent.Cancel, intent.Help}
	}
	return []intent.Action{intent.Toggle, intent.Approve, intent.Tool, intent.Cancel, intent.Open, intent.Sort,
		intent.Menu, intent.Log, intent.Help}
}

// Label returns shorter words for keys.
func (p *panel) Label(a intent.Action) string {
	return map[intent.Action]string{intent.Toggle: "switch", intent.Approve: "accept", intent.Tool: "tools", intent.Sort: "order",
		intent.Open: "details", intent.Menu: "menu", intent.Log: "log"}[a]
}

// Size returns the size that it needs.
func (p *panel) Size(w, h int) (int, int) {
	w = min(w, widest)
	return w, p.reports.table.Size(w, h)
}

// Draw draws the table.
func (p *panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	p.reports.table.Draw(c, b, th, p.reports.Keys, p.reports.Clock())
}

// Click selects a server; a click on its box switches it.
func (p *panel) Click(x, y int) dialog.Result {
	if p.reports.table.Click(x, y) {
		return p.Handle(intent.Toggle)
	}
	return nil
}

// Handle handles an intent.
func (p *panel) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Help:
		return host.Stay(func() tea.Cmd { return p.reports.Act(intent.Help) })
	case intent.Menu:
		return host.Stay(p.openMenu)
	case intent.Sort:
		return host.Stay(func() tea.Cmd { return p.reports.Notify(thread.LevelInfo, "Sorted by "+p.reports.table.Sort()) })
	case intent.Problems:
		return host.Stay(func() tea.Cmd {
			p.reports.Dialogs.Push(dialog.NewText("problems of MCP servers", mcp.Troubles(p.reports.table.Report())))
			return nil
		})
	default:
		return p.onServer(act)
	}
}

// openMenu opens the menu of what is done with the selected server.
func (p *panel) openMenu() tea.Cmd {
	s := p.reports.table.Selected()
	if s == nil {
		return nil
	}
	var items []dialog.MenuItem
	for _, b := range p.reports.Keys.Entries(intent.ServersMenu) {
		items = append(items, dialog.MenuItem{Action: b.Action, Label: b.Label(), Text: b.Description(),
			Result: host.Do(func() tea.Cmd {
				if stay, ok := p.Handle(b.Action).(host.Stay); ok {
					return stay()
				}
				return nil
			})})
	}
	p.reports.Dialogs.Push(dialog.NewMenu(plain.Line(s.Name), intent.ServersMenu, items))
	return nil
}

// onServer moves to another server, or does something with the one under the cursor.
func (p *panel) onServer(a intent.Action) dialog.Result {
	if p.reports.table.Handle(a) {
		return nil
	}
	s, do := p.reports.table.Selected(), p.action(a)
	if s == nil || do == nil {
		return nil
	}
	return host.Stay(func() tea.Cmd { return do(s) })
}

// action returns what an action does with the selected server, or nil.
func (p *panel) action(a intent.Action) func(*thread.MCPServer) tea.Cmd {
	switch a {
	case intent.Toggle:
		return func(s *thread.MCPServer) tea.Cmd { return p.reports.toggle(s, false) }
	case intent.SwitchNow:
		return func(s *thread.MCPServer) tea.Cmd { return p.reports.toggle(s, true) }
	case intent.Tool:
		return p.openTools
	case intent.Approve:
		return p.reports.askLaunch
	case intent.Open:
		return p.reports.openDetails
	case intent.Log:
		return p.reports.openLog
	case intent.Relaunch:
		return p.reports.askRestart
	case intent.SignIn:
		return p.reports.askSignIn
	default:
		return nil
	}
}

// openTools opens the list of a server's tools.
func (p *panel) openTools(s *thread.MCPServer) tea.Cmd {
	p.tools = newTools(p.reports, s)
	p.reports.Dialogs.Push(p.tools)
	return p.tools.follow()
}

// follow loads what is out of date.
func (p *panel) follow() tea.Cmd {
	if p.tools == nil {
		return nil
	}
	return p.tools.follow()
}
