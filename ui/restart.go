package ui

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Restarted is what a restart of the server did.
type Restarted struct {
	// Resumed counts the agents that run again; Failed are those that do not, with the reason, by their threads' names.
	Resumed int
	Failed  map[string]string
	// Problems are what the new server found at its start, and warned of.
	Problems []string
}

type (
	restartIt    struct{}
	restartedMsg struct {
		done Restarted
		err  error
	}
)

func (restartIt) DialogResult() {}

// sayOutdated asks about a server of another build, and says how to be asked again.
func (m *Model) sayOutdated() tea.Cmd {
	if m.conn.outdated == "" || m.cfg.Restart == nil {
		return nil
	}
	how := m.keys.KeyOf(intent.Restart)
	if how == "" {
		how = m.keys.KeyOf(intent.Palette) + " restart"
	}
	return tea.Batch(m.tell(thread.LevelWarn, how+" restarts the server, which is of another build"), m.openRestart())
}

// openRestart asks whether the server is to be started again with this program; nothing happens by a mere return.
func (m *Model) openRestart() tea.Cmd {
	switch {
	case m.cfg.Restart == nil:
		return m.tell(thread.LevelInfo, "run `orchestrator restart` in a terminal")
	case m.conn.restarting:
		return m.tell(thread.LevelInfo, "the server is being restarted")
	}
	body := dialog.Plain("The server is stopped and started again with this program.")
	if m.conn.outdated != "" {
		body = dialog.Plain("The server runs another build of orchestrator than this program.")
		if m.conn.outdated != m.cfg.Version {
			body = append(body, dialog.Line{Text: "server: " + m.conn.outdated + ", this program: " + m.cfg.Version, Tok: theme.Muted})
		}
	}
	run, work := 0, 0
	for _, s := range m.tree.All() {
		if running(s) {
			run++
		}
		if s.State.State == thread.StateWorking {
			work++
		}
	}
	body = append(body, dialog.Line{})
	if run == 0 {
		body = append(body, dialog.Line{Text: "No agent runs."})
	} else {
		body = append(body, dialog.Line{Text: dialog.Count(run, "agent") + " will be stopped, and resumed by the new server."})
	}
	if work > 0 {
		body = append(body, dialog.Line{Text: dialog.Count(work, "agent") + " at work: what is not answered yet is cut off.", Tok: theme.Warn})
	}
	m.conn.offering = dialog.NewAsk("restart the server?", body,
		dialog.Cancel("Not now"), dialog.Choice{Label: "Restart", Result: restartIt{}, Danger: true})
	m.dialogs.Push(m.conn.offering)
	return nil
}

// restart starts the server again; the stream is taken up by itself.
func (m *Model) restart() tea.Cmd {
	m.conn.restarting = true
	cols, rows := m.paneSize()
	return tea.Batch(m.tell(thread.LevelInfo, "restarting the server …"), m.call(slow, func(ctx context.Context) tea.Msg {
		done, err := m.cfg.Restart(ctx, cols, rows)
		return restartedMsg{done, err}
	}))
}

// restarted tells how that ended, once the new server is heard.
func (m *Model) restarted(msg restartedMsg) tea.Cmd {
	if msg.err == nil && m.conn.lost {
		m.conn.restarted = &msg
		return m.subscribe()
	}
	m.conn.restarting, m.conn.restarted, m.conn.tries = false, nil, 0
	if msg.err != nil {
		if !m.dialogs.Open() { // it may have stopped the agents
			m.showResumes(true)
		}
		return m.fail("restart the server", msg.err)
	}
	m.conn.outdated = ""
	for _, p := range msg.done.Problems {
		if !slices.ContainsFunc(m.news.log, func(n notice) bool { return n.text == p }) {
			m.news.log = append(m.news.log, notice{level: thread.LevelWarn, text: p, at: m.cfg.Clock()})
		}
	}
	said := "the server runs again; " + dialog.Count(msg.done.Resumed, "agent") + " resumed"
	if n := len(msg.done.Failed); n > 0 {
		var body []dialog.Line
		for _, name := range slices.Sorted(maps.Keys(msg.done.Failed)) {
			body = append(body, dialog.Line{Text: name + ": " + msg.done.Failed[name], Tok: theme.Bad})
		}
		m.dialogs.Push(dialog.NewText("not resumed", body))
		return m.tell(thread.LevelWarn, fmt.Sprintf("%s, %d not", said, n))
	}
	return m.tell(thread.LevelInfo, said)
}
