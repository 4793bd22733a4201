package terminal

import (
	"orchestrator/agent/vterm"
	"orchestrator/agent/vterm/input"
	"orchestrator/thread"
	"orchestrator/ui/paint"

	tea "charm.land/bubbletea/v2"
)

// NewsMsg says that title, modes or state of the pane may have changed. The root only passes it to Update.
type NewsMsg struct{ from *link }

// CopiedMsg says that selected text has gone to the clipboard.
type CopiedMsg struct{ Text string }

// CopiedText is the text.
func (c CopiedMsg) CopiedText() string { return c.Text }

// Model is the live pane. Its methods are called by one goroutine.
type Model struct {
	attacher Attacher
	painter  Painter

	link    *link
	box     paint.Box
	covered bool
	focused bool
	shown   paint.Box // what the painter has been given, if anything
	at      size      // of the last attachment or resize

	scrolled bool
	top      uint64 // first line shown while scrolled

	moved int64 // how far top and sel have followed the numbers of lines

	sel      *vterm.Selection
	dragging bool
	clicks   clicks
}

// New makes a pane that is attached to nothing.
func New(a Attacher, p Painter) *Model {
	return &Model{attacher: a, painter: p, at: size{80, 24}}
}

// Show attaches to the terminal of a thread, again if it is the same one; an empty id detaches.
func (m *Model) Show(id thread.ID) tea.Cmd {
	m.Close()
	if id == "" {
		m.place()
		return nil
	}
	if !m.empty() {
		m.at = size{m.box.W, m.box.H}
	}
	m.link = openLink(m.attacher, m.painter, id, m.at)
	m.place()
	return wait(m.link)
}

// Close detaches from the terminal. The program in it keeps running.
func (m *Model) Close() {
	if m.link != nil {
		m.link.close()
		m.link = nil
	}
	m.scrolled, m.sel, m.dragging, m.moved = false, nil, false, 0
}

// wait reports the next news of an attachment.
func wait(l *link) tea.Cmd {
	return func() tea.Msg {
		<-l.news
		return NewsMsg{from: l}
	}
}

func (m *Model) empty() bool { return m.box.W <= 0 || m.box.H <= 0 }

// Place sets the box of the pane. The terminal is resized to it.
func (m *Model) Place(b paint.Box) {
	if b == m.box {
		return
	}
	m.box = b
	if s := (size{b.W, b.H}); !m.empty() && s != m.at {
		m.at = s
		m.sel, m.dragging, m.scrolled = nil, false, false
		if m.link != nil {
			m.link.resize(s)
		}
	}
	m.place()
}

// Suspend stops painting while something else is drawn there.
func (m *Model) Suspend(on bool) {
	if on != m.covered {
		m.covered = on
		m.place()
	}
}

// Focus says whether keys go to the pane, so that it shows its cursor and its program hears of it.
func (m *Model) Focus(on bool) {
	if on == m.focused {
		return
	}
	m.focused = on
	if m.link != nil {
		m.link.typed(input.AppendFocus(nil, on, m.Modes()))
	}
	m.place()
}

// place tells the painter what to show.
func (m *Model) place() {
	state, _ := m.State()
	if state == Attaching && !m.covered && m.box == m.shown {
		return // the screen before stays until the new one comes
	}
	if m.link == nil || m.empty() || m.covered || state == Attaching || state == Failed && !m.painted() {
		m.shown = paint.Box{}
		m.painter.Suspend()
		return
	}
	m.shown = m.box
	m.renumber()
	pane := paint.Pane{
		Box: m.box, Source: m.link.screen, Scrolled: m.scrolled, Top: m.top, Cursor: m.focused && state == Live,
	}
	if m.sel != nil {
		sel := *m.sel
		pane.Selection = &sel
	}
	m.painter.SetPane(pane)
}

// renumber lets scroll position and selection follow their lines when these are renumbered.
func (m *Model) renumber() {
	m.link.screen.View(func(*vterm.Terminal) {
		by := m.link.screen.moved - m.moved
		if by == 0 {
			return
		}
		m.moved += by
		m.top = uint64(max(0, int64(m.top)+by))
		m.sel, m.dragging = nil, false
	})
}

// painted tells whether anything of the terminal ever came.
func (m *Model) painted() (ok bool) {
	m.link.screen.View(func(t *vterm.Terminal) { ok = t.Generation() > 0 })
	return ok
}

// Thread is the thread whose terminal is shown.
func (m *Model) Thread() thread.ID {
	if m.link == nil {
		return ""
	}
	return m.link.id
}

// State returns the state of the attachment, and why it failed.
func (m *Model) State() (State, error) {
	if m.link == nil {
		return Idle, nil
	}
	return m.link.state()
}

// Problem tells why there is no terminal to show, nil when there is or may be one.
func (m *Model) Problem() error {
	if state, err := m.State(); state == Failed {
		return err
	}
	return nil
}

// Title is the title that the program has set, safe to be shown.
func (m *Model) Title() string {
	if m.link == nil {
		return ""
	}
	return *m.link.screen.title.Load()
}

// Modes are the modes that the program has set.
func (m *Model) Modes() vterm.Modes {
	if m.link == nil {
		return vterm.Modes{}
	}
	return *m.link.screen.modes.Load()
}

// MouseMode is what the root must ask of Bubble Tea, so that the program gets the mouse events it wants and
// the pane those it needs for its own.
func (m *Model) MouseMode() tea.MouseMode {
	if m.focused && m.Modes().Mouse == vterm.MouseAny {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

// Keyboard is what the root must ask of Bubble Tea, so that the program gets the keys it asked for.
func (m *Model) Keyboard() (k tea.KeyboardEnhancements) {
	if flags := m.Modes().Kitty; m.focused {
		k.ReportEventTypes = flags&2 != 0
		k.ReportAlternateKeys = flags&4 != 0
	}
	return k
}

func (m *Model) send(b []byte) {
	if m.link != nil {
		m.link.typed(b)
	}
}
