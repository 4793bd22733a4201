package ui

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

func (m *Model) subscribed(msg subscribedMsg) tea.Cmd {
	if msg.gen != m.conn.gen {
		return nil
	}
	if msg.err != nil {
		return m.lost(msg.err)
	}
	m.conn.events, m.conn.seq = msg.events, 0
	m.tree.Restart() // it may be another server
	return tea.Batch(m.next(), m.list())
}

// lost says once that the server is gone and tries again; when that leads nowhere it asks whether to
// start one.
func (m *Model) lost(err error) tea.Cmd {
	if m.ctx.Err() != nil {
		return nil
	}
	var cmd tea.Cmd
	m.conn.tries++
	if !m.conn.lost {
		m.conn.lost, m.conn.tries, m.tree.Lost = true, 0, true
		text := "the server does not answer; trying again"
		if err != nil {
			text = "server: " + err.Error() + "; trying again"
		}
		if !m.conn.restarting {
			cmd = m.tell(thread.LevelError, text)
		}
	}
	if m.conn.tries == askAfter && m.cfg.Revive != nil && !m.conn.restarting {
		m.conn.asking = dialog.NewAsk("the server is gone", dialog.Plain("It ended or was stopped, and its agents with it. What was answered is stored.",
			"Starting it again shows what can be resumed."),
			dialog.Choice{Label: "Start it again", Result: reviveIt{}, Preset: true}, dialog.Cancel("Wait"))
		m.dialogs.Push(m.conn.asking)
	}
	m.screen.stale = true
	return tea.Batch(cmd, m.cfg.After(retry, retryMsg{m.conn.gen}))
}

// revive starts a server; the stream is taken up again by itself.
func (m *Model) revive() tea.Cmd {
	return tea.Batch(m.tell(thread.LevelInfo, "starting the server …"), m.call(slow, func(ctx context.Context) tea.Msg {
		if err := m.cfg.Revive(ctx); err != nil {
			return doneMsg{what: "started", err: err}
		}
		return doneMsg{}
	}))
}

// happened takes a batch of events.
func (m *Model) happened(msg eventsMsg) tea.Cmd {
	if msg.gen != m.conn.gen {
		return nil
	}
	var cmds []tea.Cmd
	gap := false
	for _, e := range msg.events {
		gap = gap || (m.conn.seq != 0 && e.Seq != m.conn.seq+1)
		m.conn.seq = e.Seq
		cmds = append(cmds, m.apply(e))
	}
	m.dialogs.Recheck()
	if gap {
		cmds = append(cmds, m.list())
	}
	if msg.over {
		cmds = append(cmds, m.lost(nil))
	} else {
		cmds = append(cmds, m.next())
	}
	return tea.Batch(append(cmds, m.screen.drawSoon(m.cfg))...)
}

// apply takes one event.
func (m *Model) apply(e thread.Event) tea.Cmd {
	switch e.Kind {
	case thread.EventThread:
		if e.Status == nil {
			return nil
		}
		before := m.tree.Thread(e.Status.ID)
		m.tree.Put(*e.Status)
		return tea.Batch(m.attention(before, e.Status), m.looking())
	case thread.EventRemoved:
		m.tree.Remove(e.ThreadID, e.Seq)
	case thread.EventCheckpoint:
		if e.Checkpoint != nil {
			return m.checkpoint(*e.Checkpoint)
		}
	case thread.EventPrompt:
		if e.Prompt != nil {
			return m.promptChanged(*e.Prompt)
		}
	case thread.EventNotice:
		if e.Notice != nil {
			return m.tell(e.Notice.Level, e.Notice.Text)
		}
	case thread.EventSpeech: // the terminal shows what the model says
	case thread.EventSwitch:
		return m.switchTo(e.ThreadID)
	}
	return nil
}

// checkpoint brings the views up to what was just stored.
func (m *Model) checkpoint(cp thread.Checkpoint) tea.Cmd {
	if cp.Kind == thread.KindRewind && m.views.timeline.Thread() == cp.Thread {
		m.views.timeline.Show(cp.Thread) // it has another past now
		if m.views.now == viewTimeline {
			return m.loadTimeline()
		}
		return nil
	}
	m.views.timeline.Push(cp)
	if cp.Kind == thread.KindTurn && m.views.now == viewDiff && m.views.diff.Thread() == cp.Thread && m.views.diff.Range().Turn == 0 {
		return m.reloadDiff()
	}
	return nil
}

// switchTo shows a thread, as when `switch` was asked for elsewhere. Nobody but the person gives an agent the
// keys: they go to the list, and what is being typed to the agent that was on show goes nowhere.
func (m *Model) switchTo(id thread.ID) tea.Cmd {
	if !m.tree.Select(id) {
		return nil
	}
	if m.scopes()[0] == intent.Terminal {
		m.hands.take(m.cfg.Clock())
	}
	m.views.now, m.views.reading, m.live.wish = viewTerminal, false, ""
	m.screen.area, m.screen.stale = areaTree, true
	return m.tell(thread.LevelInfo, m.name(id)+" is shown, as was asked from elsewhere; "+m.keys.KeyOf(intent.Focus)+" types into it")
}

// listed takes all threads. The first time it says what was left interrupted.
func (m *Model) listed(msg listedMsg) tea.Cmd {
	if msg.err != nil {
		return tea.Batch(m.fail("list threads", msg.err), m.cfg.After(retry, retryMsg{m.conn.gen}))
	}
	m.tree.Set(msg.threads, msg.since)
	m.dialogs.Recheck()
	var cmd tea.Cmd
	if m.conn.lost {
		m.conn.lost, m.tree.Lost = false, false
		m.dialogs.Close(m.conn.asking)
		m.live.run = "" // attach anew
		switch {
		case m.conn.restarted != nil:
			cmd = m.restarted(*m.conn.restarted)
		case !m.conn.restarting: // which resumes by itself
			m.conn.outdated = "" // it may be another one, as when another screen has restarted it
			m.dialogs.Close(m.conn.offering)
			cmd = m.tell(thread.LevelInfo, "the server is back")
			m.showResumes(true)
		}
	}
	if !m.conn.listed {
		m.conn.listed = true
		if m.live.wish != "" {
			m.tree.Select(m.live.wish)
		}
		m.showResumes(false)
		m.firstRun()
		cmd = tea.Batch(cmd, m.sayOutdated())
	}
	return cmd
}
