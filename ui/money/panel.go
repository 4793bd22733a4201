package money

import (
	"orchestrator/thread"
	"orchestrator/thread/spending"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// panel is the dialog with all of it.
type panel struct {
	account    *account
	visit      func(thread.ID) tea.Cmd
	by, period int // in tabs and periods
	groups     dialog.Rows[spending.Group]
}

// query asks for what it shows.
func (p *panel) query() spending.Query {
	return spending.Query{By: tabs[p.by], Period: periods[p.period]}
}

// Title returns the title.
func (p *panel) Title() string { return "money" }

// Scope returns the scope of its keys.
func (p *panel) Scope() intent.Scope { return intent.Costs }

// Hints returns the keys to show in its frame.
func (p *panel) Hints(layout.Box) []intent.Action {
	out := []intent.Action{intent.Left, intent.Right, intent.NextField, intent.Cancel}
	if p.thread() != "" {
		return append([]intent.Action{intent.Open}, out...)
	}
	return out
}

// Label returns shorter words for keys.
func (p *panel) Label(a intent.Action) string {
	return map[intent.Action]string{
		intent.Left: "shorter", intent.Right: "longer", intent.NextField: "by …", intent.Open: "go there",
	}[a]
}

// Size returns the size that it needs: always the same, unless there are many groups.
func (p *panel) Size(w, h int) (int, int) {
	r := p.account.report
	return min(w, 108), min(h, max(len(r.Groups)+min(len(r.Quotas), mostQuotas)+12, 20))
}

// list returns the groups of the newest report.
func (p *panel) list() *dialog.Rows[spending.Group] {
	p.groups.Bar = true
	p.groups.Set(p.account.report.Groups, nil)
	return &p.groups
}

// thread returns the thread under the cursor, or "".
func (p *panel) thread() thread.ID {
	if g, ok := p.list().Item(); ok && tabs[p.by] == spending.ByThread && p.account.report.By == spending.ByThread {
		return g.Spent.Thread
	}
	return ""
}

// Handle handles an intent.
func (p *panel) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	by, period := p.by, p.period
	switch act {
	case intent.Cancel:
		return dialog.Cancelled{}
	case intent.Left:
		p.period = max(p.period-1, 0)
	case intent.Right:
		p.period = min(p.period+1, len(periods)-1)
	case intent.NextField:
		p.by = (p.by + 1) % len(tabs)
	case intent.PrevField:
		p.by = (p.by + len(tabs) - 1) % len(tabs)
	case intent.Open:
		return p.chosen()
	default:
		p.groups.Handle(act)
	}
	if by != p.by || period != p.period {
		p.groups.Go(0)
		p.account.hurry()
	}
	return nil
}

// chosen goes to the thread of the row under the cursor, if it is of one.
func (p *panel) chosen() dialog.Result {
	if id := p.thread(); id != "" && p.account.Threads.Thread(id) != nil {
		return host.Do(func() tea.Cmd { return p.visit(id) })
	}
	return nil
}

// Click selects a row. A click on the selected one goes to its thread.
func (p *panel) Click(x, y int) dialog.Result {
	if _, again := p.groups.Click(x, y); again {
		return p.chosen()
	}
	return nil
}

// Draw draws it.
func (p *panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	a := p.account
	if !a.whole {
		text, tok := "…", theme.Muted
		if a.err != "" {
			text, tok = "What was spent could not be read: "+plain.Line(a.err), theme.Bad
		}
		c.Print(b, 0, 0, th.Style(tok), plain.Cut(text, b.W))
		return
	}
	page{a.report, a.period, a.Clock(), a.err}.draw(c, b, th, p.list())
}
