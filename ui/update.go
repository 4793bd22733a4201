package ui

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/burst"
	"orchestrator/ui/dialog"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Update takes a message. It is the one place that keys, the mouse, the window and what effects
// end in come through.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd, known := m.input(msg)
	if !known {
		cmd, known = m.fromServer(msg)
	}
	if !known {
		cmd, known = m.fromClock(msg)
	}
	if !known {
		// Not ours: the pane's own messages come this way too. They change none of the chrome.
		return m, m.other(msg)
	}
	m.opened()
	return m, tea.Batch(cmd, m.follow())
}

// other passes on what the pane sent itself.
func (m *Model) other(msg tea.Msg) tea.Cmd {
	if m.cfg.Pane == nil {
		return nil
	}
	cmd := m.passOn(msg)
	if c, ok := msg.(CopiedText); ok {
		n := strings.Count(strings.TrimSuffix(c.CopiedText(), "\n"), "\n") + 1
		return tea.Batch(cmd, m.tell(thread.LevelInfo, dialog.Count(n, "line")+" copied"))
	}
	return cmd
}

// input takes what comes from the terminal.
func (m *Model) input(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.key(msg), true
	case burst.Msg:
		m.burst(msg.On)
		return nil, true
	case tea.ResumeMsg:
		return m.resumed(), true
	case tea.KeyReleaseMsg:
		return m.toPane(msg), true
	case tea.PasteMsg:
		return m.paste(msg), true
	case tea.PasteStartMsg, tea.PasteEndMsg:
		return nil, true
	case tea.MouseMsg:
		return m.mouse(msg), true
	case tea.WindowSizeMsg:
		m.screen.resize(msg.Width, msg.Height)
	case tea.FocusMsg:
		m.news.focused = true
		return tea.Batch(m.toPane(msg), m.looking()), true
	case tea.BlurMsg:
		m.news.focused = false
		return m.toPane(msg), true
	case tea.BackgroundColorMsg:
		if m.cfg.Theme != "dark" && m.cfg.Theme != "light" {
			m.th = theme.New(m.th.Profile(), msg.IsDark())
		}
	case tea.ColorProfileMsg:
		if m.cfg.Profile == colorprofile.Unknown {
			m.th = theme.New(msg.Profile, m.th.Dark())
		}
	default:
		return nil, false
	}
	m.screen.stale = true
	return nil, true
}

// fromServer takes what calls and the event stream brought.
func (m *Model) fromServer(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case subscribedMsg:
		return m.subscribed(msg), true
	case eventsMsg:
		return m.happened(msg), true
	case listedMsg:
		m.screen.stale = true
		return m.listed(msg), true
	}
	cmd, known := m.answered(msg)
	if !known {
		cmd, known = m.outcome(msg)
	}
	m.screen.stale = m.screen.stale || known
	return cmd, known
}

// answered takes what was asked for to be shown.
func (m *Model) answered(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case agentsMsg:
		return m.agentsKnown(msg), true
	case mcpMsg:
		if msg.err != nil {
			return m.fail("MCP servers", msg.err), true
		}
		m.mcp.Set(msg.servers)
		if d := m.live.servers; d != nil {
			d.Set(dialog.Plain(m.mcp.Details()...))
		}
	case timelineMsg:
		m.views.timeline.Add(msg.id, msg.page, msg.err)
		return m.loadTimeline(), true
	case asideMsg:
		if msg.err == nil { // the timeline itself tells what is wrong
			m.views.timeline.SetAside(msg.id, msg.turns)
		}
	case turnMsg:
		m.views.turn.Fill(msg.id, msg.at, msg.entries, msg.err)
	case diffMsg:
		m.views.diff.Fill(msg.id, msg.what, msg.files, msg.err)
	case whyMsg:
		msg.into.Set(m.why(msg))
	case foundMsg:
		if msg.gen == m.views.find {
			msg.into.SetItems(m.hits(msg))
		}
	default:
		return nil, false
	}
	return nil, true
}

// outcome takes how something that was asked for ended.
func (m *Model) outcome(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case madeMsg:
		if msg.err != nil {
			m.live.wish = ""
			return m.fail(msg.what, msg.err), true
		}
		return m.made(msg), true
	case resumedMsg:
		if msg.err != nil {
			return m.fail("resume all", msg.err), true
		}
		for _, s := range msg.threads {
			m.tree.Put(s)
		}
		return m.tell(thread.LevelInfo, dialog.Count(len(msg.threads), "thread")+" resumed"), true
	case doneMsg:
		return m.done(msg), true
	case askedMsg:
		return m.tellAsked(msg), true
	case promptsMsg:
		m.listPrompts(msg)
		return nil, true
	case mergedMsg:
		return m.merged(msg), true
	case pushedMsg:
		return m.pushed(msg), true
	case collectedMsg:
		return m.collected(msg), true
	case rewindPlanMsg:
		m.planned(msg)
		return nil, true
	case rewindMsg:
		return m.rewound(msg), true
	case restartedMsg:
		return m.restarted(msg), true
	case editedMsg:
		m.suspendPane(false)
		m.live.suspend = false
		if msg.err != nil {
			return m.fail("editor", msg.err), true
		}
		return tea.Batch(m.reloadDiff(), func() tea.Msg { return tea.ClearScreen() }), true
	default:
		return nil, false
	}
}

// fromClock takes what was set for later.
func (m *Model) fromClock(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case frameMsg:
		m.screen.soon = false
		m.screen.stale = true
	case secondMsg:
		m.screen.ticking = false
		m.screen.stale = true
		m.tree.Beat()
	case partingMsg:
		if m.hands.leaving && msg.gen == m.hands.partings {
			return m.leave(), true
		}
	case lateMsg:
		m.conn.late = true
		m.screen.stale = m.screen.stale || !m.conn.listed
	case noticeOverMsg:
		if msg.gen == m.news.gen {
			m.news.now = nil
			m.screen.stale = true
		}
	case retryMsg:
		if msg.gen == m.conn.gen {
			return m.subscribe(), true
		}
	case settledMsg:
		if msg.gen == m.live.gen {
			return m.settled(), true
		}
	case lookedMsg:
		return m.looked(msg), true
	default:
		return nil, false
	}
	return nil, true
}
