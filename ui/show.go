package ui

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/tree"
	"orchestrator/ui/typing"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// show changes the view in the main pane, and focuses it unless it is the terminal.
func (m *Model) show(v views.View) tea.Cmd {
	m.views.Show(v)
	m.screen.area = areaMain
	if v == views.Terminal {
		m.screen.area = areaTree
	}
	return tea.Batch(m.views.Fill(), m.looking())
}

// Present shows a thread that was just created or started. Its agent is focused as soon as it runs, unless the person has
// left for the list since the task began; began is zero if it is not to be focused.
func (m *Model) Present(s thread.Status, began time.Time) {
	if m.scopes()[0] == intent.Terminal {
		m.typing.LoseFocus(m.cfg.Clock())
	}
	m.tree.Put(s)
	m.tree.Select(s.ID)
	m.views.Show(views.Terminal)
	m.screen.area = areaTree
	if !began.IsZero() && !m.screen.left.After(began) {
		m.follow.FocusWhenRunning(s.ID)
	}
}

// NotStarted cancels a pending focus, because the agent did not start.
func (m *Model) NotStarted() { m.follow.FocusWhenRunning("") }

// visit shows a search hit: a turn, or the list of prompts for an unanswered one.
func (m *Model) visit(h thread.Hit) tea.Cmd {
	if !m.tree.Select(h.Thread) {
		return fetch(m, h.Thread, func() tea.Cmd { return m.visit(h) })
	}
	if h.Prompt != "" {
		return m.prompts.Open(m.tree.Thread(h.Thread))
	}
	if h.Checkpoint == "" {
		return nil
	}
	m.screen.area = areaMain
	m.follow.Visit(h.Thread)
	m.servers.Show(h.Thread)
	return m.views.Read(h.Thread, thread.Checkpoint{ID: h.Checkpoint, Turn: h.Turn})
}

// back shows the thread that was shown before. If the keyboard is in an agent, it goes to that thread's agent.
func (m *Model) back() tea.Cmd {
	id := m.follow.Before()
	inside := m.screen.area == areaMain && m.views.Now() == views.Terminal
	if id == "" || !m.tree.Select(id) {
		return m.host.Notify(thread.LevelInfo, "No other thread was shown before")
	}
	m.screen.area = areaTree
	if inside && host.Running(m.tree.Thread(id)) {
		m.follow.FocusWhenRunning(id)
	}
	return nil
}

// enter focuses the main pane. It first resumes an agent that is not running.
func (m *Model) enter() tea.Cmd {
	s := m.tree.Selected()
	switch {
	case tree.Asked(m.tree) != nil:
		q := tree.Asked(m.tree)
		return m.waves.Open(q.Task, q.Agent)
	case s == nil && len(m.tree.All()) == 0:
		return m.agents.Welcome()
	case s == nil:
		return m.start.Open()
	}
	if m.views.Now() != views.Terminal || host.Running(s) {
		m.screen.area = areaMain
		return nil
	}
	if !s.Archived.IsZero() {
		return m.host.Notify(thread.LevelInfo,
			m.tree.Called(s)+" is archived; "+m.keys.KeyOf(intent.Archive)+" to restore it")
	}
	if s.Runs() && s.Run.Waiting() {
		return m.host.Notify(thread.LevelInfo, s.Run.Execution+" has not started: "+m.tree.Called(s)+" "+s.Line())
	}
	m.follow.FocusWhenRunning(s.ID)
	return m.resumes.Begin(s, true)
}

// choosePoint lets the user choose where to fork.
func (m *Model) choosePoint() tea.Cmd {
	m.views.Show(views.Timeline)
	m.screen.area = areaMain
	return tea.Batch(m.views.Fill(),
		m.host.Notify(thread.LevelInfo, "Choose a turn, then press "+m.keys.KeyOf(intent.ForkAt)))
}

// redraw reattaches to the terminal and clears the screen.
func (m *Model) redraw() tea.Cmd {
	m.follow.Reattach()
	return func() tea.Msg { return tea.ClearScreen() }
}

// leaveSoon quits, unless the letter turns out to be the start of typed text.
func (m *Model) leaveSoon() tea.Cmd {
	return m.hold(intent.Quit, m.keys.KeyOf(intent.Quit)+" quits", typing.QuitDelay, m.leave)
}

// leave quits.
func (m *Model) leave() tea.Cmd {
	m.host.Close()
	return tea.Quit
}
