package ui

import (
	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/typing"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// show changes what the main pane shows; a view to be read takes the keys.
func (m *Model) show(v views.View) tea.Cmd {
	m.views.Show(v)
	m.screen.area = areaMain
	if v == views.Terminal {
		m.screen.area = areaTree
	}
	return tea.Batch(m.views.Fill(), m.looking())
}

// Present shows a thread that was just made or started; with focus its agent gets the keys as soon as it runs.
func (m *Model) Present(s thread.Status, focus bool) {
	m.tree.Put(s)
	m.tree.Select(s.ID)
	m.views.Show(views.Terminal)
	m.screen.area = areaTree
	if focus {
		m.follow.Wish(s.ID)
	}
}

// NotStarted takes back that an agent is to get the keys: it does not run.
func (m *Model) NotStarted() { m.follow.Wish("") }

// visit shows what a search found; a prompt without an answer is in the list of the thread's prompts.
func (m *Model) visit(h thread.Hit) tea.Cmd {
	if !m.tree.Select(h.Thread) {
		return m.host.Tell(thread.LevelWarn, "That thread no longer exists")
	}
	if h.Prompt != "" {
		return m.prompts.Open(m.tree.Thread(h.Thread))
	}
	if h.Checkpoint == "" {
		return nil
	}
	m.screen.area = areaMain
	m.follow.Visit(h.Thread)
	return m.views.Read(h.Thread, thread.Checkpoint{ID: h.Checkpoint, Turn: h.Turn})
}

// enter gives the keys to the main pane; an agent that does not run is resumed first.
func (m *Model) enter() tea.Cmd {
	s := m.tree.Selected()
	if s == nil {
		return m.start.Open()
	}
	if m.views.Now() != views.Terminal || host.Running(s) {
		m.screen.area = areaMain
		return nil
	}
	if !s.Archived.IsZero() {
		return m.host.Tell(thread.LevelInfo,
			s.DisplayName()+" is archived; "+m.keys.KeyOf(intent.Archive)+" to restore it")
	}
	m.follow.Wish(s.ID)
	return m.resumes.Begin(s, true)
}

// choosePoint has the person choose where to fork.
func (m *Model) choosePoint() tea.Cmd {
	m.views.Show(views.Timeline)
	m.screen.area = areaMain
	return tea.Batch(m.views.Fill(),
		m.host.Tell(thread.LevelInfo, "Choose a turn, then press "+m.keys.KeyOf(intent.ForkAt)))
}

// redraw attaches to the terminal again and clears the screen.
func (m *Model) redraw() tea.Cmd {
	m.follow.Forget()
	return func() tea.Msg { return tea.ClearScreen() }
}

// leaveSoon quits, unless the letter that says so turns out to be the beginning of a text.
func (m *Model) leaveSoon() tea.Cmd {
	return m.cfg.After(typing.Parting, partingMsg{m.typing.Leave()})
}

// leave quits.
func (m *Model) leave() tea.Cmd {
	m.host.Close()
	return tea.Quit
}
