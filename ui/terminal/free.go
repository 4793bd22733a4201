package terminal

import "orchestrator/agent/vterm"

// Free returns how many rows at the bottom of the pane are empty, so that something else can stand there without hiding
// anything: the program has drawn nothing on them, and its cursor is above them.
func (m *Model) Free() (n int) {
	if state, _ := m.State(); m.link == nil || state != Live || m.scrolled || m.sel != nil {
		return 0
	}
	m.link.screen.View(func(t *vterm.Terminal) {
		_, rows := t.Size()
		if rows != m.box.H {
			return // not resized yet
		}
		var cells []vterm.Cell
		for y := rows - 1; y > t.Cursor().Y; y-- {
			cells = t.Row(cells[:0], y)
			for i := range cells {
				if c := &cells[i]; c.Rune > ' ' || c.Cluster != "" || c.Style != (vterm.Style{}) {
					return
				}
			}
			n++
		}
	})
	return n
}

// Lend leaves so many rows at the bottom of the pane to something else. The terminal keeps its size.
func (m *Model) Lend(rows int) {
	if rows != m.lent {
		m.lent = rows
		m.place()
	}
}
