package work

import (
	"orchestrator/thread"
	"orchestrator/thread/work"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// panel is the dialog with the tree.
type panel struct {
	src  *source
	do   does
	rows dialog.Rows[node]
	at   string // the key of what was under the cursor when it was closed
}

// does is what rows lead to.
type does struct {
	enter  func(node) dialog.Result
	read   func(work.Row) tea.Cmd
	answer func(node, thread.Meaning) dialog.Result
}

// fill lays the rows out anew. The cursor stays on what it is on.
func (p *panel) fill() {
	before := p.rows.Len() > 0
	p.rows.Bar = true
	p.rows.Set(nodes(p.src.known, p.src.folds, p.src.first()), func(a, b node) bool { return a.key() == b.key() })
	if before || p.at == "" {
		return
	}
	for i, n := range p.rows.Items() {
		if n.key() == p.at {
			p.rows.Go(i)
		}
	}
}

// Title returns the title.
func (p *panel) Title() string {
	switch n := len(p.src.known.Sessions); {
	case n == 0:
		return "work"
	case p.src.known.More:
		return "work: the newest " + plain.Count(n, "work session")
	default:
		return "work: " + plain.Count(n, "work session")
	}
}

// Scope returns the scope of its keys.
func (p *panel) Scope() intent.Scope { return intent.Works }

// Size returns the size that it needs: it has room for what is unfolded.
func (p *panel) Size(w, h int) (int, int) { return min(w, 140), h }

// Hints returns the keys that do something with the row under the cursor.
func (p *panel) Hints(layout.Box) []intent.Action {
	n, ok := p.rows.Item()
	if !ok {
		return []intent.Action{intent.NextField, intent.Cancel}
	}
	var out []intent.Action
	if _, q := p.src.asks(n); q != nil {
		out = append(out, intent.Yes, intent.No)
	}
	switch {
	case n.row != nil:
		out = append(out, intent.Open, intent.Why)
	case n.folds && n.open:
		out = append(out, intent.Fold)
	case n.folds:
		out = append(out, intent.Unfold)
	}
	return append(out, intent.NextField, intent.Money, intent.Cancel)
}

// Label returns the words for keys.
func (p *panel) Label(a intent.Action) string {
	switch a {
	case intent.Yes:
		return "proceed"
	case intent.No:
		return "cancel it"
	case intent.Open:
		return "open"
	case intent.Why:
		return "given, said, outputs"
	case intent.Fold:
		return "fold"
	case intent.Unfold:
		return "unfold"
	case intent.NextField:
		return "tasks of plans"
	case intent.Money:
		return "money"
	default:
		return ""
	}
}

// Handle handles an intent.
func (p *panel) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	n, ok := p.rows.Item()
	if ok {
		p.at = n.key()
	}
	switch {
	case act == intent.Cancel:
		return dialog.Cancelled{}
	case act == intent.Money:
		return host.Do(p.src.cfg.Money)
	case act == intent.NextField || act == intent.PrevField:
		return host.Do(p.src.cfg.Tasks)
	case p.rows.Handle(act), !ok:
		return nil
	}
	switch act {
	case intent.Open:
		return p.do.enter(n)
	case intent.Why:
		if n.row != nil {
			row := *n.row
			return host.Stay(func() tea.Cmd { return p.do.read(row) })
		}
	case intent.Fold:
		if !n.folds || !n.open {
			p.up(n)
			return nil
		}
		return host.Stay(func() tea.Cmd { return p.src.fold(n, false) })
	case intent.Unfold:
		return host.Stay(func() tea.Cmd { return p.src.fold(n, true) })
	case intent.Yes:
		return p.do.answer(n, thread.Approve)
	case intent.No:
		return p.do.answer(n, thread.Deny)
	default:
	}
	return nil
}

// up goes to what a node is in.
func (p *panel) up(n node) {
	items := p.rows.Items()
	for i := p.rows.At() - 1; i >= 0; i-- {
		if items[i].depth < n.depth {
			p.rows.Go(i)
			return
		}
	}
}

// Click selects a row. A click on the selected one opens it.
func (p *panel) Click(x, y int) dialog.Result {
	if hit, again := p.rows.Click(x, y); hit && again {
		n, _ := p.rows.Item()
		return p.do.enter(n)
	}
	return nil
}

// Draw draws it.
func (p *panel) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	if p.src.err != "" {
		var last layout.Box
		b, last = b.Bottom(1)
		c.Print(last, 0, 0, th.Style(theme.Bad), plain.Cut("not up to date: "+plain.Line(p.src.err), last.W))
	}
	switch {
	case !p.src.loaded && p.src.err == "":
		c.Print(b, 0, 0, th.Style(theme.Muted), "…")
		return
	case p.rows.Len() == 0:
		drawEmpty(c, b, th)
		return
	}
	if b.H >= 10 {
		var foot layout.Box
		b, foot = b.Bottom(3)
		if n, ok := p.rows.Item(); ok {
			p.src.drawFoot(c, foot, th, n)
		}
	}
	p.rows.Draw(c, b, th, func(row layout.Box, n node) { p.src.drawNode(c, row, th, n) })
}
