package ui

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// follow acts upon what the message changed: the selection, the pane, the clock on screen.
func (m *Model) follow() tea.Cmd {
	var cmds []tea.Cmd
	sel := m.tree.Selected()
	id := thread.ID("")
	if sel != nil {
		id = sel.ID
	}
	if id != m.live.selected {
		// What has the keys is shown at once, so that none goes to the agent before.
		first := m.live.selected == "" || m.live.wish == id
		m.live.selected, m.live.settled = id, false
		m.live.gen++
		m.screen.stale = true
		if first {
			cmds = append(cmds, m.settled())
		} else {
			cmds = append(cmds, m.cfg.After(settle, settledMsg{m.live.gen}))
		}
	}
	if m.live.wish != "" && sel != nil && sel.ID == m.live.wish && sel.Execution != nil && sel.State.State.Live() {
		m.live.wish = ""
		m.views.now, m.screen.area = viewTerminal, areaMain
		m.screen.stale = true
	}
	if !m.live.settled && m.screen.area == areaMain && m.views.now == viewTerminal {
		cmds = append(cmds, m.settled())
	}
	if seen := m.paneSeen(); seen != m.live.seen {
		m.live.seen = seen
		cmds = append(cmds, m.looking()) // once nothing is over it any more
	}
	cmds = append(cmds, m.followPane(sel), m.tick(sel))
	return tea.Batch(cmds...)
}

// settled acts upon a selection that rests.
func (m *Model) settled() tea.Cmd {
	m.live.settled = true
	m.screen.stale = true
	m.views.reading = false
	return tea.Batch(m.fill(), m.looking())
}

// fill loads what the view on show needs of the selected thread.
func (m *Model) fill() tea.Cmd {
	s := m.tree.Selected()
	if s == nil {
		m.views.timeline.Show("")
		return nil
	}
	switch m.views.now {
	case viewTimeline:
		if m.views.timeline.Thread() != s.ID {
			m.views.timeline.Show(s.ID)
		}
		return m.loadTimeline()
	case viewDiff:
		if m.views.diff.Thread() != s.ID {
			return m.loadDiff(s.ID, baseOf(s))
		}
		return m.reloadDiff()
	default:
		return nil
	}
}

// looking begins to count as having looked at the selected thread.
func (m *Model) looking() tea.Cmd {
	s := m.tree.Selected()
	if s == nil || s.Seen || s.State.State != thread.StateDone && !s.State.Stuck || !m.news.focused || !m.live.settled || !m.paneSeen() {
		return nil
	}
	return m.cfg.After(look, lookedMsg{m.live.gen, s.ID})
}

func (m *Model) looked(msg lookedMsg) tea.Cmd {
	s := m.tree.Selected()
	if msg.gen != m.live.gen || s == nil || s.ID != msg.id || !m.news.focused || !m.paneSeen() {
		return nil
	}
	return m.call(quick, func(ctx context.Context) tea.Msg {
		// Nobody asked for it, so nobody is told when it fails: it is tried at the next look.
		_ = m.cfg.Server.Seen(ctx, string(msg.id))
		return doneMsg{}
	})
}

// drawSoon has the screen drawn, at most so often: events come by the hundred.
func (s *screen) drawSoon(cfg Config) tea.Cmd {
	const apart = 33 * time.Millisecond
	if s.stale || s.soon {
		return nil
	}
	wait := min(apart-cfg.Clock().Sub(s.drawn), apart)
	if wait <= 0 {
		s.stale = true
		return nil
	}
	s.soon = true
	return cfg.After(wait, frameMsg{})
}

// tick lets the clock on screen and the marks of what works go on, where any of them shows; one tick is under way
// at most.
func (m *Model) tick(sel *thread.Status) tea.Cmd {
	clock := sel != nil && counts(sel.State.State)
	if m.screen.ticking || !clock && (m.place().side.Empty() || !m.tree.Moves()) {
		return nil
	}
	m.screen.ticking = true
	return m.cfg.After(tree.Pace(), secondMsg{})
}

// counts reports whether the time in a state is shown.
func counts(s thread.State) bool {
	return s == thread.StateWorking || s == thread.StateStarting
}
