package dialog

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// MenuItem is an entry of a menu.
type MenuItem struct {
	Action intent.Action
	Label  string // the letter that chooses it
	Text   string
	Result Result
	Hidden bool // it has a key, but no row
}

// Menu is a list of what can be done, each entry with its letter.
type Menu struct {
	title string
	scope intent.Scope
	items []MenuItem // with rows
	keyed []MenuItem // without
	win   list.Window
	at    layout.Box // where the rows were drawn
}

// NewMenu returns a menu whose letters are the bindings of a scope.
func NewMenu(title string, scope intent.Scope, items []MenuItem) *Menu {
	m := &Menu{title: title, scope: scope}
	for _, it := range items {
		if it.Hidden {
			m.keyed = append(m.keyed, it)
		} else {
			m.items = append(m.items, it)
		}
	}
	return m
}

// Title returns the title.
func (m *Menu) Title() string { return m.title }

// Scope returns the scope of its keys.
func (m *Menu) Scope() intent.Scope { return m.scope }

// Size returns the size that it needs.
func (m *Menu) Size(w, h int) (int, int) {
	need := 30
	for _, it := range m.items {
		need = max(need, plain.Width(plain.Line(it.Text))+4)
	}
	return min(need, w), min(len(m.items), h)
}

// Item returns the entry of an action, if the menu has it.
func (m *Menu) Item(a intent.Action) (MenuItem, bool) {
	for _, items := range [][]MenuItem{m.items, m.keyed} {
		for _, it := range items {
			if it.Action == a {
				return it, true
			}
		}
	}
	return MenuItem{}, false
}

// Go moves the cursor to the entry of an action.
func (m *Menu) Go(a intent.Action) {
	m.win.Fit(len(m.items), len(m.items), nil)
	for i, it := range m.items {
		if it.Action == a {
			m.win.Go(i)
		}
	}
}

// Handle handles an intent: an action of an entry chooses it.
func (m *Menu) Handle(in intent.Intent) Result {
	act, _ := in.(intent.Action)
	if act == intent.Accept && m.win.At() < len(m.items) {
		return m.items[m.win.At()].Result
	}
	if act == intent.Cancel {
		return Cancelled{}
	}
	if it, ok := m.Item(act); ok {
		return it.Result
	}
	m.win.Handle(act)
	return nil
}

// Click chooses an entry.
func (m *Menu) Click(x, y int) Result {
	if x < m.at.X || x >= m.at.X+m.at.W {
		return nil
	}
	if i, ok := m.win.Hit(y - m.at.Y); ok {
		return m.items[i].Result
	}
	return nil
}

// Draw draws the menu.
func (m *Menu) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	m.at = b
	m.win.Fit(len(m.items), b.H, nil)
	for i, y := range m.win.Items() {
		it := m.items[i]
		c.Print(b, 0, y, th.Style(theme.Key), plain.Line(it.Label))
		c.Print(b, 3, y, th.Style(theme.Text), plain.Cut(plain.Line(it.Text), b.W-3))
		if i == m.win.At() {
			c.Tint(b.Row(y), th.Style(theme.SelectedFocus))
		}
	}
}
