package terminal

import (
	"orchestrator/agent/vterm/input"

	tea "charm.land/bubbletea/v2"
)

// Update handles keys, pastes and the mouse while the pane is focused, and always its own messages.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case NewsMsg:
		if msg.from != m.link || m.link == nil {
			return nil
		}
		m.place()
		var wants tea.Cmd
		if text := m.link.screen.clip.Swap(nil); text != nil {
			msg := WantsMsg{m.link.id, *text}
			wants = func() tea.Msg { return msg }
		}
		if s, _ := m.State(); s == Ended || s == Failed {
			return wants
		}
		if wants == nil {
			return wait(m.link)
		}
		return tea.Batch(wants, wait(m.link))
	case tea.KeyPressMsg:
		m.key(tea.Key(msg), false)
	case tea.KeyReleaseMsg:
		m.key(tea.Key(msg), true)
	case tea.PasteMsg:
		m.send(input.AppendPaste(nil, msg.Content, m.Modes()))
	case tea.FocusMsg:
		m.send(input.AppendFocus(nil, m.focused, m.Modes()))
	case tea.BlurMsg:
		m.send(input.AppendFocus(nil, false, m.Modes()))
	case tea.MouseMsg:
		return m.mouse(msg)
	}
	return nil
}

// key forwards a key. Typing leaves the history and clears the selection.
func (m *Model) key(k tea.Key, released bool) {
	b := input.AppendKey(nil, keyOf(k, released), m.Modes())
	if len(b) == 0 {
		return
	}
	if !released && (m.scrolled || m.sel != nil) {
		m.sel = nil
		m.ScrollToEnd()
	}
	m.send(b)
}
