package terminal

import (
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/agent/vterm/input"
	"orchestrator/ui/intent"
	"orchestrator/ui/terminal/reading"

	tea "charm.land/bubbletea/v2"
)

// Read enters scroll mode where the pane is scrolled to, and reports whether there is anything to read.
func (m *Model) Read() bool {
	if m.link == nil || m.empty() || !m.painted() {
		return false
	}
	m.read = newReader(m.link.screen, m.Back())
	m.sel, m.dragging, m.scrolled = nil, false, false
	m.place()
	return true
}

// Reading reports whether the pane is in scroll mode.
func (m *Model) Reading() bool { return m.read != nil }

// Unread leaves scroll mode.
func (m *Model) Unread() {
	if m.read != nil {
		m.read, m.dragging = nil, false
		m.place()
	}
}

// Act does what a key asks for in scroll mode, and reports whether that means something there.
func (m *Model) Act(in intent.Intent) (tea.Cmd, bool) {
	if m.read == nil {
		return nil, false
	}
	text := m.read.text
	defer m.place()
	switch in := in.(type) {
	case intent.Digit:
		text.Digit(in.N)
	case intent.Action:
		switch in {
		case intent.Leave:
			m.Unread()
		case intent.Cancel:
			if !text.Clear() {
				m.Unread()
			}
		case intent.Copy:
			if text.Selecting() == reading.None {
				text.SelectOutput()
			}
			cmd := m.Copy()
			text.Clear()
			return cmd, true
		default:
			return nil, text.Act(in)
		}
	default:
		return nil, false
	}
	return nil, true
}

// BeginSearch starts a search in scroll mode, up if back.
func (m *Model) BeginSearch(back bool) {
	if m.read != nil {
		m.read.text.Begin(back)
	}
}

// Search goes to the closest match of a text in scroll mode; an empty one goes back to where the search began.
func (m *Model) Search(query string) {
	if m.read != nil {
		m.read.text.Search(query)
		m.place()
	}
}

// Link returns the page that the text at the cursor leads to in scroll mode, and the text that says so, or "".
func (m *Model) Link() (text, target string) {
	if m.read == nil {
		return "", ""
	}
	return m.read.text.Link()
}

// Where returns where the cursor is in scroll mode: the line, the match or the selection, and what has come since.
func (m *Model) Where() string {
	if m.read == nil {
		return ""
	}
	return m.read.where(m.link.screen)
}

// mouseReading moves the cursor, selects and scrolls in scroll mode.
func (m *Model) mouseReading(e input.Mouse, inside bool) tea.Cmd {
	text := m.read.text
	p := vterm.Point{
		Line: text.Window() + uint64(min(max(e.Y, 0), m.box.H-1)), X: min(max(e.X, 0), m.box.W-1),
	}
	switch {
	case e.Button.Wheel():
		if n := wheelLines(e); inside && n != 0 {
			text.Scroll(n)
		}
	case e.Button == input.ButtonLeft && e.Action == input.Press && inside:
		m.dragging = true
		text.Press(p, m.clicks.add(p, time.Now()))
	case m.dragging && e.Action == input.Motion:
		switch {
		case e.Y < 0:
			text.Scroll(-1)
		case e.Y >= m.box.H:
			text.Scroll(1)
		}
		text.Drag(p, e.Mod&input.Alt != 0)
	case m.dragging && e.Action == input.Release:
		m.dragging = false
		m.place()
		return m.Copy()
	}
	m.place()
	return nil
}
