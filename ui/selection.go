package ui

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/follow"
	"orchestrator/ui/host"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

const (
	// settle is how long a selection rests before it is acted upon, look how long before it counts as seen.
	settle = 60 * time.Millisecond
	look   = 700 * time.Millisecond
)

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

// followSelection acts upon what the message changed: the selection, the pane, the clock on screen.
func (m *Model) followSelection() tea.Cmd {
	var cmds []tea.Cmd
	at, sel := m.tree.Selected(), follow.Selection{}
	if at != nil {
		sel.ID = at.ID
		if host.Running(at) {
			sel.Run = at.Execution.ID
		}
	}
	if moved, atOnce := m.follow.Select(sel.ID); moved {
		m.screen.stale = true
		if atOnce {
			cmds = append(cmds, m.settled())
		} else {
			cmds = append(cmds, m.cfg.After(settle, settledMsg{m.follow.Generation()}))
		}
	}
	if m.follow.Granted(sel) {
		m.views.Show(views.Terminal)
		m.screen.area, m.screen.stale = areaMain, true
	}
	// What has the keys is shown at once, so that none goes to the agent before.
	if !m.follow.Rests() && m.screen.area == areaMain && m.views.Now() == views.Terminal {
		cmds = append(cmds, m.settled())
	}
	if seen := m.paneSeen(); seen != m.told.seen {
		m.told.seen = seen
		cmds = append(cmds, m.looking()) // once nothing is over it any more
	}
	cmds = append(cmds, m.followPane(sel), m.tick(at))
	return tea.Batch(cmds...)
}

// settled acts upon a selection that rests.
func (m *Model) settled() tea.Cmd {
	m.follow.Rest()
	m.screen.stale = true
	m.views.Close()
	return tea.Batch(m.views.Fill(), m.looking())
}

// looking begins to count as having looked at the selected thread.
func (m *Model) looking() tea.Cmd {
	s := m.tree.Selected()
	if s == nil || s.Seen || s.State.State != thread.StateDone && !s.State.Stuck || !m.looks || !m.follow.Rests() || !m.paneSeen() {
		return nil
	}
	return m.cfg.After(look, lookedMsg{m.follow.Generation(), s.ID})
}

func (m *Model) looked(msg lookedMsg) tea.Cmd {
	s := m.tree.Selected()
	if msg.gen != m.follow.Generation() || s == nil || s.ID != msg.id || !m.looks || !m.paneSeen() {
		return nil
	}
	// No one asked for it, so no one is told when it fails: it is tried at the next look.
	return host.Call(m.host, host.Quick,
		func(ctx context.Context) (struct{}, error) { return struct{}{}, m.cfg.Server.Seen(ctx, string(msg.id)) },
		func(struct{}, error) tea.Cmd { return nil })
}
