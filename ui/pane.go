package ui

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/follow"
	"orchestrator/ui/plain"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// followPane tells the pane what changed for it.
func (m *Model) followPane(sel follow.Selection) tea.Cmd {
	want, tell := m.follow.Attach(sel)
	if want == "" && m.screen.area == areaMain && m.views.Now() == views.Terminal {
		m.typing.Take(m.cfg.Clock())
		m.screen.area = areaTree // what had the keys is gone
		m.screen.stale = true
	}
	if m.cfg.Pane == nil {
		return nil
	}
	if !m.screen.tooSmall() && m.screen.w > 0 {
		m.cfg.Pane.Place(m.paneBox())
	}
	var cmd tea.Cmd
	if tell {
		cmd = m.cfg.Pane.Show(want)
		m.screen.stale = true
	}
	m.suspendPane(m.screen.away || !m.paneSeen() || want == "" || want != sel.ID)
	focus := m.screen.area == areaMain && m.views.Now() == views.Terminal && !m.dialogs.Open() && m.line == nil &&
		sel.ID != "" && want == sel.ID
	if focus != m.told.focus {
		m.told.focus = focus
		m.cfg.Pane.Focus(focus)
	}
	return cmd
}

func (m *Model) paneWants() (w wants) {
	if p, ok := m.cfg.Pane.(PaneModes); ok {
		w.mouse, w.keyboard = p.MouseMode(), p.Keyboard()
	}
	if p, ok := m.cfg.Pane.(PaneProblem); ok {
		if err := p.Problem(); err != nil {
			w.problem = err.Error()
		}
	}
	if p, ok := m.cfg.Pane.(PaneBack); ok {
		w.back = p.Back()
	}
	return w
}

// passOn gives the pane a message, and the chrome what that changed.
func (m *Model) passOn(msg tea.Msg) tea.Cmd {
	cmd := m.cfg.Pane.Update(msg)
	if w := m.paneWants(); w != m.told.wants {
		m.told.wants = w
		m.screen.stale = true
	}
	return cmd
}

// suspendPane stops or lets go on the painting of the pane.
func (m *Model) suspendPane(on bool) {
	if m.cfg.Pane != nil && on != m.told.suspend {
		m.told.suspend = on
		m.cfg.Pane.Suspend(on)
	}
}

// other passes on what the pane sent itself.
func (m *Model) other(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil {
		return nil
	}
	cmd := m.passOn(msg)
	if c, ok := msg.(CopiedText); ok {
		n := strings.Count(strings.TrimSuffix(c.CopiedText(), "\n"), "\n") + 1
		return tea.Batch(cmd, m.host.Tell(thread.LevelInfo, plain.Count(n, "line")+" copied"))
	}
	return cmd
}

// toPane passes a message on to the agent where it has the focus.
func (m *Model) toPane(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil || !m.told.focus {
		return nil
	}
	return m.passOn(msg)
}
