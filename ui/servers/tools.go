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

// tools is the dialog with the tools of a server for a thread.
type tools struct {
	reports *reports
	in      thread.ID
	server  string
	name    string
	list    mcp.Tools
	detail  thread.MCPDetail
	late    loads
	// seenEvents and seenChanges are how many of them the list knows of.
	seenEvents, seenChanges int
}

// newTools returns the dialog with the tools of a server.
func newTools(r *reports, s *thread.MCPServer) *tools {
	t := &tools{reports: r, in: r.shown, server: ref(s), name: mcp.Name(s), seenEvents: r.events, seenChanges: r.changes}
	t.late.again()
	return t
}

// follow loads the tools, if they are out of date and not on their way.
func (t *tools) follow() tea.Cmd {
	if !t.reports.Dialogs.Has(t) {
		return nil
	}
	if t.in != t.reports.shown {
		t.reports.Dialogs.Close(t) // another thread is shown
		return nil
	}
	if t.seenEvents != t.reports.events {
		t.late.again()
	}
	if t.seenChanges != t.reports.changes {
		t.late.discard()
	}
	t.seenEvents, t.seenChanges = t.reports.events, t.reports.changes
	n, ok := t.late.begin()
	if !ok {
		return nil
	}
	return t.reports.fetch(t.server, func(d thread.MCPDetail, err error) tea.Cmd {
		switch {
		case !t.late.end(n):
		case err != nil:
			t.list.Fail(err)
		default:
			t.detail = d
			t.list.Set(d)
		}
		return nil
	})
}

// Title returns the title.
func (t *tools) Title() string { return "tools of " + t.name }

// Scope returns the scope of its keys.
func (t *tools) Scope() intent.Scope { return intent.Tools }

// Hints returns the keys to show in its frame.
func (t *tools) Hints(layout.Box) []intent.Action {
	out := []intent.Action{intent.Toggle}
	if t.list.Withheld() {
		out = append(out, intent.Approve)
	}
	return append(out, intent.Cancel, intent.Open, intent.Help)
}

// Label returns shorter words for keys.
func (t *tools) Label(a intent.Action) string {
	return map[intent.Action]string{intent.Toggle: "switch", intent.Approve: "accept changed"}[a]
}

// Size returns the size that it needs.
func (t *tools) Size(w, h int) (int, int) { return min(w, widest), min(t.list.Rows(), h) }

// Draw draws the list.
func (t *tools) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) { t.list.Draw(c, b, th) }

// Click selects a tool; a click on its box switches it.
func (t *tools) Click(x, y int) dialog.Result {
	if t.list.Click(x, y) {
		return t.Handle(intent.Toggle)
	}
	return nil
}

// Handle handles an intent.
func (t *tools) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Help:
		return host.Stay(func() tea.Cmd { return t.reports.Act(intent.Help) })
	case intent.Approve:
		return host.Stay(t.askWithheld)
	default:
		return t.onTool(act)
	}
}

// onTool moves to another tool, or does something with the one under the cursor.
func (t *tools) onTool(a intent.Action) dialog.Result {
	if t.list.Handle(a) {
		return nil
	}
	tool := t.list.Selected()
	switch {
	case tool == nil:
	case a == intent.Toggle:
		return host.Stay(func() tea.Cmd { return t.toggle(tool) })
	case a == intent.Open:
		return host.Stay(func() tea.Cmd {
			t.reports.Dialogs.Push(dialog.NewText("tool of "+t.name, mcp.Tool(tool)))
			return nil
		})
	}
	return nil
}

// toggle switches a tool on or off.
func (t *tools) toggle(tool *thread.MCPTool) tea.Cmd {
	name := plain.Cut(plain.Line(tool.Name), 60)
	switch {
	case t.in == "":
		return t.reports.Notify(thread.LevelInfo, "Select a thread to switch its tools")
	case tool.Unusable != "":
		return t.reports.Notify(thread.LevelWarn, name+" cannot be used: "+plain.Cut(plain.Line(tool.Unusable), 100))
	case tool.Withheld != "":
		return t.reports.Notify(thread.LevelWarn, name+" is withheld: "+plain.Cut(plain.Line(tool.Withheld), 100))
	}
	c := thread.MCPChange{Thread: string(t.in), Server: t.server, Tool: tool.Name, On: !tool.On}
	return t.reports.change("switch "+name, c, func(got thread.MCPReport) string {
		if c.On {
			return name + " on"
		}
		for i := range got.Servers {
			if s := &got.Servers[i]; ref(s) == c.Server {
				return off(name, s)
			}
		}
		return name + " off"
	})
}

// askWithheld shows the tools that are withheld, and asks whether to accept them.
func (t *tools) askWithheld() tea.Cmd {
	body, some := mcp.Withheld(t.detail)
	if !some {
		return t.reports.Notify(thread.LevelInfo, "No tool of "+t.name+" is withheld")
	}
	a := thread.MCPAct{Act: "approve-tools", Server: t.server, Thread: string(t.in), Hash: t.detail.ToolsHash}
	t.reports.Dialogs.Push(dialog.NewAsk("accept these tools of "+t.name+"?", body, dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Accept", Read: true, Result: host.Do(func() tea.Cmd {
			return t.reports.act("accept tools of "+t.name, "Tools of "+t.name+" accepted", a)
		})}))
	return nil
}
