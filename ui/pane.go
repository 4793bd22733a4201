package ui

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"orchestrator/thread"
	"orchestrator/ui/follow"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// followPane tells the pane what has changed for it.
func (m *Model) followPane(sel follow.Selection) tea.Cmd {
	want, tell := m.follow.Attach(sel)
	if want == "" && m.screen.area == areaMain && m.views.Now() == views.Terminal {
		m.typing.LoseFocus(m.cfg.Clock())
		m.screen.area = areaTree // what was focused is gone
		m.screen.stale = true
	}
	if m.cfg.Pane == nil {
		return nil
	}
	if m.screen.area != areaMain || m.views.Now() != views.Terminal {
		m.scrolling.End()
	}
	hidden := m.screen.away || m.screen.drag.On() || !m.paneSeen()
	if hidden != m.pane.hidden {
		m.pane.hidden, m.screen.stale = hidden, true
	}
	group, several := m.cfg.Pane.(PaneGroup)
	if !m.screen.tooSmall() && m.screen.w > 0 && !m.screen.drag.On() {
		boxes := m.shape().Terminals()
		current := sel.ID
		if !m.follow.Rests() {
			current = cmp.Or(want, m.several.Current())
		}
		m.several.Arrange(len(boxes), current)
		m.cfg.Pane.Place(boxes[m.several.At()])
		if several {
			group.Beside(m.several.Watched(boxes), hidden)
		}
	}
	var cmds []tea.Cmd
	if tell {
		reading := m.scrolling.On()
		cmds = append(cmds, m.cfg.Pane.Show(want))
		m.screen.stale = true
		if reading && !m.scrolling.On() { // its keys are not for the agent
			m.typing.LoseFocus(m.cfg.Clock())
			m.screen.area = areaTree
		}
	}
	if several {
		cmds = append(cmds, group.Arrange())
	}
	m.suspendPane(hidden || want == "" || want != m.several.Current() || want != sel.ID && m.several.Alone())
	m.lend(sel)
	focus := m.screen.area == areaMain && m.views.Now() == views.Terminal && !m.dialogs.Open() && m.statusInput == nil &&
		sel.ID != "" && want == sel.ID && !m.scrolling.On()
	if focus != m.pane.focus {
		m.pane.focus = focus
		m.cfg.Pane.Focus(focus)
	}
	return tea.Batch(cmds...)
}

// lend takes empty rows at the bottom of the pane for what its agent asks, while it is answered from the list.
func (m *Model) lend(sel follow.Selection) {
	p, ok := m.cfg.Pane.(PaneFree)
	if !ok {
		return
	}
	rows := 0
	if b := m.place(); m.pane.seen && !m.pane.suspend && m.screen.area == areaTree && m.follow.Shown() == sel.ID && sel.ID != "" {
		if free := p.Free() - 1; free >= leastStrip {
			rows = min(m.questions.Rows(b.Inner.W+1), free)
		}
	}
	if rows != m.pane.lent {
		m.pane.lent, m.screen.stale = rows, true
		p.Lend(rows)
	}
}

func (m *Model) paneRequest() (w paneRequest) {
	if p, ok := m.cfg.Pane.(PaneModes); ok {
		w.mouse, w.keyboard = p.MouseMode(), p.Keyboard()
	}
	if p, ok := m.cfg.Pane.(PaneProblem); ok {
		if err := p.Problem(); err != nil {
			w.problem = err.Error()
		}
	}
	if p, ok := m.cfg.Pane.(PaneReports); ok {
		// Without the spinner before it, which would redraw the screen.
		w.title = strings.TrimLeftFunc(p.Title(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if n, ok := p.Progress(); ok {
			w.progress = fmt.Sprintf("%d %%", n)
		}
	}
	if p, ok := m.cfg.Pane.(PaneBack); ok {
		w.back = p.Back()
	}
	w.aside = m.several.Notes()
	return w
}

// passOn passes a message to the pane, and applies what that changed to the chrome.
func (m *Model) passOn(msg tea.Msg) tea.Cmd {
	cmd := m.cfg.Pane.Update(msg)
	if w := m.paneRequest(); w != m.pane.request {
		m.pane.request = w
		m.screen.stale = true
	}
	return cmd
}

// suspendPane stops or continues painting the pane.
func (m *Model) suspendPane(on bool) {
	if m.cfg.Pane != nil && on != m.pane.suspend {
		m.pane.suspend = on
		m.cfg.Pane.Suspend(on)
	}
}

// other handles messages that the pane sent itself.
func (m *Model) other(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil {
		return nil
	}
	cmd := m.passOn(msg)
	if w, ok := msg.(Wants); ok {
		return tea.Batch(cmd, m.consent.Wanted(w.Wants()))
	}
	if c, ok := msg.(Copied); ok {
		return tea.Batch(cmd, m.host.Notify(thread.LevelInfo, m.host.Name(m.follow.Shown())+": "+c.Copied().Says("")))
	}
	return cmd
}

// toPane passes a message to the agent if it is focused.
func (m *Model) toPane(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil || !m.pane.focus {
		return nil
	}
	if s := m.tree.Selected(); s != nil && s.Runs() {
		if !m.typing.ShouldTell() {
			return nil
		}
		return m.host.Notify(thread.LevelWarn, s.Run.Execution+" has no terminal, this is its log: "+m.keys.LeaveKey()+" goes back")
	}
	return m.passOn(msg)
}
