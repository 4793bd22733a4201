package ui

import (
	"orchestrator/ui/burst"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// resumed takes the terminal back from the shell.
func (m *Model) resumed() tea.Cmd {
	m.screen.away = false
	m.typing.Resumed()
	return m.redraw() // the painted content is gone
}

// input handles input from the terminal.
func (m *Model) input(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg), true
	case burst.Msg:
		m.typing.Burst(msg.On, msg.On && m.acts(msg.Text))
		return nil, true
	case tea.ResumeMsg:
		return m.resumed(), true
	case tea.KeyReleaseMsg:
		return m.toPane(msg), true
	case tea.PasteMsg:
		return m.paste(msg), true
	case tea.PasteStartMsg, tea.PasteEndMsg:
		return nil, true
	case tea.MouseMsg:
		return m.mouse(msg), true
	case tea.WindowSizeMsg:
		m.screen.resize(msg.Width, msg.Height)
	case tea.FocusMsg:
		m.windowFocused, m.focusKnown = true, true
		return tea.Batch(m.toPane(msg), m.looking()), true
	case tea.BlurMsg:
		m.windowFocused, m.focusKnown = false, true
		return m.toPane(msg), true
	case tea.BackgroundColorMsg:
		if m.cfg.Theme != "dark" && m.cfg.Theme != "light" {
			m.th = m.th.On(m.th.Profile(), msg.IsDark())
		}
	case tea.ColorProfileMsg:
		if m.cfg.Profile == colorprofile.Unknown {
			m.th = m.th.On(msg.Profile, m.th.Dark())
		}
	default:
		return nil, false
	}
	m.screen.stale = true
	return nil, true
}

// fromClock handles timer messages.
func (m *Model) fromClock(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case frameMsg:
		m.screen.soon = false
		m.screen.stale = true
	case secondMsg:
		if msg.tick != m.screen.ticks {
			return nil, true // an earlier one came
		}
		m.screen.ticking = false
		m.screen.stale = true
	case heldMsg:
		if m.typing.Due(msg.id) {
			m.screen.stale = true // it may open a dialog
			return msg.do(), true
		}
	case settledMsg:
		if msg.gen == m.follow.Generation() {
			return m.settled(), true
		}
	case lookedMsg:
		return m.looked(msg), true
	default:
		return nil, false
	}
	return nil, true
}

// Update handles a message: keys, the mouse, window events and the results of effects.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, known := m.input(msg)
	if !known {
		cmd, known = m.conn.Update(msg)
	}
	if !known {
		cmd, known = m.fromClock(msg)
	}
	if reply, ok := msg.(host.Reply); ok {
		m.screen.stale = true
		cmd, known = reply(), true
	}
	if !known {
		// Not ours: messages of the pane come this way too. They do not change the chrome.
		return m, m.other(msg)
	}
	m.typing.Opened(m.dialogs.Top(), m.cfg.Clock())
	return m, tea.Batch(cmd, m.followSelection())
}
