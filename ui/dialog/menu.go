package dialog

import (
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
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
	rows  Rows[MenuItem]
	keyed []MenuItem // those without a row
}

// NewMenu returns a menu whose letters are the bindings of a scope.
func NewMenu(title string, scope intent.Scope, items []MenuItem) *Menu {
	m := &Menu{title: title, scope: scope}
	var rows []MenuItem
	for _, it := range items {
		if it.Hidden {
			m.keyed = append(m.keyed, it)
		} else {
			rows = append(rows, it)
		}
	}
	m.rows.Set(rows, nil)
	return m
}

// Title returns the title.
func (m *Menu) Title() string { return m.title }

// Scope returns the scope of its keys.
func (m *Menu) Scope() intent.Scope { return m.scope }

// Size returns the size that it needs.
func (m *Menu) Size(w, h int) (int, int) {
	need := 30
	for _, it := range m.rows.Items() {
		need = max(need, plain.Width(plain.Line(it.Text))+4)
	}
	return min(need, w), min(m.rows.Len(), h)
}

// Item returns the entry of an action, if the menu has it.
func (m *Menu) Item(a intent.Action) (MenuItem, bool) {
	for _, items := range [][]MenuItem{m.rows.Items(), m.keyed} {
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
	for i, it := range m.rows.Items() {
		if it.Action == a {
			m.rows.Go(i)
		}
	}
}

// Handle handles an intent: an action of an entry chooses it.
func (m *Menu) Handle(in intent.Intent) Result {
	act, _ := in.(intent.Action)
	if it, ok := m.rows.Item(); ok && act == intent.Accept {
		return it.Result
	}
	if act == intent.Cancel {
		return Cancelled{}
	}
	if it, ok := m.Item(act); ok {
		return it.Result
	}
	m.rows.Handle(act)
	return nil
}

// Click chooses an entry.
func (m *Menu) Click(x, y int) Result {
	if hit, _ := m.rows.Click(x, y); hit {
		it, _ := m.rows.Item()
		return it.Result
	}
	return nil
}

// Draw draws the menu.
func (m *Menu) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	m.rows.Draw(c, b, th, func(row layout.Box, it MenuItem) {
		c.Print(row, 0, 0, th.Style(theme.Key), plain.Line(it.Label))
		c.Print(row, 3, 0, th.Style(theme.Text), plain.Cut(plain.Line(it.Text), row.W-3))
	})
}
