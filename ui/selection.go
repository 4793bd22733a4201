package ui

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/follow"
	"orchestrator/ui/host"
	"orchestrator/ui/trail"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

const (
	// settle is how long a selection must rest before it takes effect, and look how long before the thread counts as seen.
	settle = 60 * time.Millisecond
	look   = 700 * time.Millisecond
)

// tick updates what changes by itself on the screen: the clock of the selected thread, and the ages of its question and of
// the list. Of pending ticks only the earliest counts.
func (m *Model) tick(sel *thread.Status) tea.Cmd {
	now, next := m.cfg.Clock(), time.Duration(0)
	if sel != nil && counts(sel.State.State) || m.scrolling.On() { // it counts lines
		next = time.Second
	}
	if sel != nil && sel.State.Question != nil {
		next = tree.Sooner(next, tree.Older(now, sel.State.Since))
		next = tree.Sooner(next, tree.Older(now, sel.State.Question.Since))
	}
	if !m.screen.away {
		if !m.place().Side.Empty() {
			next = tree.Sooner(next, m.tree.Changes(now))
		}
		next = tree.Sooner(next, m.several.Changes(now))
	}
	at := now.Add(next)
	if next == 0 || m.screen.ticking && !at.Before(m.screen.tickAt) {
		return nil
	}
	m.screen.ticking, m.screen.tickAt = true, at
	m.screen.ticks++
	return m.cfg.After(next, secondMsg{m.screen.ticks})
}

// followSelection applies what a message has changed: the selection, the pane, the clock on screen.
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
		if m.pane.focus && m.follow.PendingFocus() != sel.ID { // not by a key: what is typed was for the agent before
			m.typing.LoseFocus(m.cfg.Clock())
			m.screen.area = areaTree
		}
		if atOnce {
			cmds = append(cmds, m.settled())
		} else {
			cmds = append(cmds, m.cfg.After(settle, settledMsg{m.follow.Generation()}))
		}
	}
	if m.follow.TakeFocus(sel) {
		m.views.Show(views.Terminal)
		m.screen.area, m.screen.stale = areaMain, true
	}
	// Show what is focused at once, so that no key goes to the agent before.
	if !m.follow.Rests() && m.screen.area == areaMain && m.views.Now() == views.Terminal {
		cmds = append(cmds, m.settled())
	}
	if seen := m.paneSeen(); seen != m.pane.seen {
		m.pane.seen = seen
		cmds = append(cmds, m.looking()) // once nothing covers it any more
	}
	if !m.screen.tooSmall() && !m.place().Pane.Empty() {
		cmds = append(cmds, m.views.Follow())
	}
	if sel.ID != "" && m.follow.Rests() && !m.dialogs.Open() {
		p := trail.Place{Thread: sel.ID, View: int(m.views.Now())}
		if m.views.Reading() != "" {
			_, p.Turn, p.N = m.views.At()
		}
		m.trail.See(p)
	}
	cmds = append(cmds, m.peek.Follow(), m.servers.Follow(), m.money.Follow(), m.work.Follow(), m.waves.Follow(), m.branch.Follow(m.cfg.Clock()), m.followPane(sel), m.tick(at))
	return tea.Batch(cmds...)
}

// settled applies a selection that has settled.
func (m *Model) settled() tea.Cmd {
	m.follow.Rest()
	m.servers.Show(m.follow.Selected())
	m.screen.stale = true
	m.views.Close()
	return tea.Batch(m.views.Fill(), m.looking())
}

// looking starts the timer after which the selected thread counts as seen.
func (m *Model) looking() tea.Cmd {
	s := m.tree.Selected()
	if s == nil || s.Seen || s.State.State != thread.StateDone && !s.State.Stuck {
		return nil
	}
	if !m.windowFocused || !m.follow.Rests() || !m.paneSeen() {
		return nil
	}
	return m.cfg.After(look, lookedMsg{m.follow.Generation(), s.ID})
}

func (m *Model) looked(msg lookedMsg) tea.Cmd {
	s := m.tree.Selected()
	if msg.gen != m.follow.Generation() || s == nil || s.ID != msg.id || !m.windowFocused || !m.paneSeen() {
		return nil
	}
	// Do not report a failure: it is tried again at the next look.
	return host.Call(m.host, host.Quick,
		func(ctx context.Context) (struct{}, error) {
			return struct{}{}, api.Seen.Do(ctx, m.host.Server, api.Ref{Thread: string(msg.id)})
		},
		func(struct{}, error) tea.Cmd { return nil })
}
