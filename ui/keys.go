package ui

import (
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// key takes a key: to the agent when it has the focus, to the table otherwise.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	scope := m.scopes()[0]
	in := m.keys.Lookup(m.scopes(), intent.Key{Name: k.String(), Text: k.Key().Text})
	late := m.hands.late(m.cfg.Clock())
	if m.screen.tooSmall() && !harmless(in) {
		return nil // nobody sees what it would be an answer to
	}
	if scope == intent.Terminal && in != intent.Leave {
		return m.toPane(k)
	}
	text := k.Key().Text != ""
	switch quits := in == intent.Quit && text && !m.hands.burst && m.hands.taken == ""; {
	case quits && m.hands.leaving:
		return m.leave()
	case quits:
		return m.leaveSoon()
	case text || in == intent.Focus:
		m.hands.stay(m.keys.KeyOf(intent.Quit))
	}
	if why := m.meantElsewhere(scope, in, text, late); why != "" {
		return m.ignore(why)
	}
	if in == nil {
		return nil
	}
	m.screen.stale = true
	return m.do(in)
}

// harmless reports whether an intent may be acted upon where nothing is on show: it leaves something.
func harmless(in intent.Intent) bool {
	return in == intent.Quit || in == intent.Suspend || in == intent.Cancel || in == intent.Leave
}

// toPane passes a message on to the agent where it has the focus.
func (m *Model) toPane(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil || !m.live.focus {
		return nil
	}
	return m.passOn(msg)
}

func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	if m.screen.tooSmall() {
		return nil
	}
	switch scope := m.scopes()[0]; scope {
	case intent.Terminal:
		return m.toPane(p)
	case intent.Form, intent.Field:
		m.screen.stale = true
		return m.do(intent.Type{Text: p.Content})
	case intent.Confirm:
		m.screen.stale = true
		return tea.Batch(m.do(intent.Type{}), m.ignore(m.textIgnored(scope)))
	default:
		return m.ignore(m.textIgnored(scope))
	}
}

// scopes returns whose keys are asked, innermost first.
func (m *Model) scopes() []intent.Scope {
	switch {
	case m.dialogs.Open():
		return []intent.Scope{m.dialogs.Top().Scope(), intent.Global}
	case m.typing != nil:
		return []intent.Scope{intent.Field, intent.Global}
	case m.screen.area == areaMain && m.views.now == viewTerminal:
		return []intent.Scope{intent.Terminal}
	}
	var out []intent.Scope
	if m.offer() != nil {
		out = append(out, intent.Offer)
	}
	if m.screen.area == areaTree {
		return append(out, intent.Tree, intent.Global)
	}
	return append(out, m.viewScope(), intent.Global)
}

func (m *Model) viewScope() intent.Scope {
	switch m.views.now {
	case viewTimeline:
		if m.views.reading {
			return intent.Turn
		}
		return intent.Timeline
	case viewDiff:
		return intent.Diff
	default:
		return intent.Context
	}
}
