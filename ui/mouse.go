package ui

import (
	"slices"

	"orchestrator/ui/frame"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// mouse routes a mouse event to what is under the pointer.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	if m.screen.tooSmall() || m.statusInput != nil {
		return nil
	}
	if m.dialogs.Open() {
		return m.mouseInDialog(msg)
	}
	b := m.place()
	_, click := msg.(tea.MouseClickMsg)
	_, wheel := msg.(tea.MouseWheelMsg)
	inPane := m.views.Now() == views.Terminal && b.Inner.Contains(at.X, at.Y) && m.follow.Shown() != ""
	if part := b.PartAt(at.X, at.Y); part >= 0 && part != b.At && !m.screen.drag.On() && !m.scrolling.On() {
		switch s := m.several.Thread(part); {
		case wheel:
			return m.passOn(msg)
		case click && s != nil && b.Parts[part].Inner.Contains(at.X, at.Y):
			m.tree.Select(s.ID)
			m.screen.area, m.screen.stale = areaTree, true
			m.follow.FocusWhenRunning(s.ID)
			return nil
		}
	}
	switch {
	case m.screen.drag.On():
		m.screen.stale = true
		m.screen.drag.Mouse(&m.screen.split, m.screen.w, msg)
		return nil
	case m.scrolling.On() && (inPane || !click && !wheel):
		m.screen.stale = true
		return m.passOn(msg)
	case inPane && click && m.screen.area != areaMain:
		m.screen.area, m.screen.stale = areaMain, true
		if m.cfg.Pane == nil {
			return nil
		}
		return m.passOn(msg) // it selects, and does not go to the agent, which was not focused
	case inPane && (wheel || m.pane.focus):
		return m.mouseToPane(msg)
	case click && at.Button == tea.MouseLeft:
		return m.click(b, at.X, at.Y)
	case wheel:
		m.wheel(b, at)
	default:
		return m.mouseToPane(releaseOnly(msg))
	}
	return nil
}

// releaseOnly keeps only the release at the end of a drag that left the pane.
func releaseOnly(msg tea.MouseMsg) tea.Msg {
	switch msg := msg.(type) {
	case tea.MouseReleaseMsg, tea.MouseMotionMsg:
		return msg
	default:
		return nil
	}
}

// mouseToPane forwards a mouse event to the pane; wheel events also if it is not focused.
func (m *Model) mouseToPane(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil || msg == nil {
		return nil
	}
	if _, wheel := msg.(tea.MouseWheelMsg); !wheel && !m.pane.focus {
		return nil
	}
	return m.passOn(msg)
}

func (m *Model) click(b frame.Boxes, x, y int) tea.Cmd {
	m.screen.stale = true
	if id := m.several.Click(b, x, y); id != "" {
		m.tree.Select(id)
		return nil
	}
	if i := slices.IndexFunc(m.screen.hints, func(s keyhelp.Spot) bool { return s.Contains(x, y) }); i >= 0 {
		return clickHint(m, m.screen.hints[i].Action)
	}
	switch {
	case x == b.Divider() && y > b.Top.Y && y < b.Foot.Y:
		m.screen.drag.Press(&m.screen.split, m.cfg.Clock())
	case b.List.Contains(x, y):
		m.screen.area = areaTree
		was := m.follow.Selected()
		if m.tree.ClickRow(y-b.List.Y) && b.Alone && m.tree.Selected() != nil && m.tree.Selected().ID == was {
			return m.enter() // a second click, if list and pane are not side by side
		}
	case b.Side.Contains(x, y):
		m.screen.area = areaTree
	case !b.Pane.Empty() && b.Top.Columns(b.Pane).Contains(x, y):
		for _, t := range tabs() {
			if at := x - b.Pane.X; at >= t.x && at < t.x+t.w {
				return m.show(t.view)
			}
		}
	case b.Inner.Contains(x, y):
		if m.views.Now() != views.Terminal {
			m.screen.area = areaMain
			m.views.Click(x, y)
		}
	}
	return nil
}

// clickHint does what the key of a hint does. A click is no letter of a sentence: nothing has to follow it.
func clickHint(m *Model, a intent.Action) tea.Cmd {
	m.typing.Forget() // it takes the place of a letter that has not acted yet
	if do, _ := m.questions.Answer(a); do != nil {
		return do()
	}
	return m.do(a)
}

func (m *Model) wheel(b frame.Boxes, at tea.Mouse) {
	n := layout.WheelLines
	switch at.Button {
	case tea.MouseWheelUp:
		n = -n
	case tea.MouseWheelDown:
	default:
		return
	}
	m.screen.stale = true
	switch {
	case b.Side.Contains(at.X, at.Y):
		m.tree.Move(n / layout.WheelLines)
	case !b.Inner.Contains(at.X, at.Y):
	default:
		m.views.Scroll(n)
	}
}

// mouseInDialog lets the wheel scroll the topmost dialog, and passes clicks to one that takes them.
func (m *Model) mouseInDialog(msg tea.MouseMsg) tea.Cmd {
	if click, ok := msg.(tea.MouseClickMsg); ok && click.Button == tea.MouseLeft {
		if m.typing.JustOpened(m.cfg.Clock()) {
			return nil
		}
		m.screen.stale = true
		return run(m.dialogs.Click(click.X, click.Y))
	}
	w, ok := msg.(tea.MouseWheelMsg)
	if !ok {
		return nil
	}
	m.screen.stale = true
	switch w.Button {
	case tea.MouseWheelUp:
		return m.do(intent.Up)
	case tea.MouseWheelDown:
		return m.do(intent.Down)
	default:
		return nil
	}
}
