package terminal

import (
	"orchestrator/agent/vterm"
	"orchestrator/agent/vterm/input"
	"orchestrator/thread"
	"orchestrator/ui/clipboard"
	"orchestrator/ui/paint"

	tea "charm.land/bubbletea/v2"
)

// NewsMsg means that the pane's title, modes or state may have changed. The root only passes it to Update.
type NewsMsg struct{ from *link }

// CopiedMsg means that selected text was copied to the clipboard.
type CopiedMsg struct{ What clipboard.Copied }

// WantsMsg means that the program wants to put a text on the clipboard.
type WantsMsg struct {
	Thread thread.ID
	Text   string
}

// Wants returns the thread and the text.
func (w WantsMsg) Wants() (thread.ID, string) { return w.Thread, w.Text }

// Copied returns what was copied.
func (c CopiedMsg) Copied() clipboard.Copied { return c.What }

// Model is the live pane. Only one goroutine may call its methods.
type Model struct {
	attacher Attacher
	painter  Painter

	link    *link
	box     paint.Box
	covered bool
	watched bool
	lent    int // rows at the bottom on which something else stands
	focused bool
	shown   paint.Box // what the painter was given, if anything
	at      size      // of the last attachment or resize

	scrolled bool
	top      uint64 // the first visible line while scrolled

	moved int64 // up to where top and sel have followed renumbered lines

	sel      *vterm.Selection
	dragging bool
	clicks   clicks

	read *reader // nil unless the pane is in scroll mode
}

// New returns a pane that is not attached.
func New(a Attacher, p Painter) *Model {
	return &Model{attacher: a, painter: p, at: size{80, 24}}
}

// Show attaches to the terminal of a thread, even if it is the same one; an empty id detaches.
func (m *Model) Show(id thread.ID) tea.Cmd {
	m.Close()
	if id == "" {
		m.place()
		return nil
	}
	if !m.empty() {
		m.at = size{m.box.W, m.box.H}
	}
	m.link = openLink(m.attacher, m.painter, id, m.at, m.watched)
	m.place()
	return wait(m.link)
}

// Close detaches from the terminal. The program in it keeps running.
func (m *Model) Close() {
	if m.link != nil {
		m.link.close()
		m.link = nil
	}
	m.scrolled, m.sel, m.dragging, m.moved, m.read = false, nil, false, 0, nil
}

// wait returns a command that reports the next change of an attachment.
func wait(l *link) tea.Cmd {
	return func() tea.Msg {
		<-l.news
		return NewsMsg{from: l}
	}
}

func (m *Model) empty() bool { return m.box.W <= 0 || m.box.H <= 0 }

// Place sets the box of the pane, to which the terminal is resized.
func (m *Model) Place(b paint.Box) {
	if b == m.box {
		return
	}
	m.box = b
	if s := (size{b.W, b.H}); !m.empty() && s != m.at {
		m.at = s
		m.sel, m.dragging, m.scrolled = nil, false, false
		switch {
		case m.link == nil:
		case m.read != nil:
			m.read.resize(m.link, s)
		default:
			m.link.resize(s, m.watched)
		}
	}
	m.place()
}

// Watch sets whether the pane is only watched, beside one that is worked in: then its terminal keeps a size that others
// gave it, of which the newest rows are shown, and is painted less often.
func (m *Model) Watch(on bool) {
	if on == m.watched {
		return
	}
	m.watched = on
	if m.link != nil {
		m.link.resize(m.at, on)
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

// Focus sets whether keys go to the pane, so that it shows its cursor and informs its program.
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
	box := m.box
	box.H = max(box.H-m.lent, 0)
	if state == Attaching && !m.covered && box == m.shown {
		return // the old screen stays until the new one arrives
	}
	if m.link == nil || m.empty() || m.covered || state == Attaching || state == Failed && !m.painted() {
		m.shown = paint.Box{}
		m.painter.Suspend()
		return
	}
	m.shown = box
	m.renumber()
	pane := paint.Pane{
		Box: box, Source: m.link.screen, Scrolled: m.scrolled, Top: m.top, Cursor: m.focused && state == Live, Watched: m.watched,
	}
	if m.sel != nil {
		sel := *m.sel
		pane.Selection = &sel
	}
	if m.read != nil {
		pane = m.read.pane(m.box)
	}
	m.painter.SetPane(pane)
}

// renumber adjusts scroll position and selection after lines were renumbered.
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

// painted reports whether anything of the terminal has arrived.
func (m *Model) painted() (ok bool) {
	m.link.screen.View(func(t *vterm.Terminal) { ok = t.Generation() > 0 })
	return ok
}

// Thread returns the thread whose terminal is shown.
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

// Problem returns why there is no terminal to show, or nil if there is or may be one.
func (m *Model) Problem() error {
	if state, err := m.State(); state == Failed {
		return err
	}
	return nil
}

// Title returns the title that the program has set, made safe.
func (m *Model) Title() string {
	if m.link == nil {
		return ""
	}
	return *m.link.screen.title.Load()
}

// Progress returns the progress that the program reports, in percent, and whether it reports any.
func (m *Model) Progress() (percent int, ok bool) {
	if m.link == nil {
		return 0, false
	}
	n := int(m.link.screen.done.Load())
	return n - 1, n > 0
}

// Modes returns the modes that the program has set.
func (m *Model) Modes() vterm.Modes {
	if m.link == nil {
		return vterm.Modes{}
	}
	return *m.link.screen.modes.Load()
}

// MouseMode returns the mode to request from Bubble Tea, so that the program and the pane get the mouse events that
// they need.
func (m *Model) MouseMode() tea.MouseMode {
	if m.focused && m.Modes().Mouse == vterm.MouseAny {
		return tea.MouseModeAllMotion
	}
	return tea.MouseModeCellMotion
}

// Keyboard returns what to request from Bubble Tea, so that the program gets the keys that it asked for.
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
