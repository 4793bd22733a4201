package ui

import (
	"cmp"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/alert"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

// apply handles one event.
func (m *Model) apply(e thread.Event) tea.Cmd {
	switch e.Kind {
	case thread.EventThread:
		if e.Status == nil {
			return nil
		}
		before := m.tree.Thread(e.Status.ID)
		m.tree.Put(*e.Status)
		m.inbox.Changed()
		m.money.Changed(before, e.Status)
		if m.windowFocused {
			return m.looking()
		}
		return tea.Batch(alert.Of(m.cfg.Notify, before, e.Status), m.looking())
	case thread.EventRemoved:
		m.tree.Remove(e.ThreadID, e.Seq)
		m.inbox.Changed()
	case thread.EventCheckpoint:
		if e.Checkpoint != nil {
			return m.views.Checkpoint(*e.Checkpoint)
		}
	case thread.EventPrompt:
		if e.Prompt != nil {
			return m.prompts.Changed(*e.Prompt)
		}
	case thread.EventMCP:
		m.servers.Changed(e.ThreadID)
		return m.inbox.ServersChanged()
	case thread.EventNotice:
		if e.Notice != nil {
			text := e.Notice.Text
			if s := m.tree.Thread(e.ThreadID); s != nil && !strings.Contains(text, s.DisplayName()) {
				text = s.DisplayName() + ": " + text
			}
			return m.host.Notify(e.Notice.Level, text)
		}
	case thread.EventHappened:
		if e.Happening != nil {
			m.host.Notices.Happened(happened(m.tree, *e.Happening))
		}
	case thread.EventSpeech: // the terminal shows the model's output
	case thread.EventSwitch:
		return m.switchTo(e.ThreadID)
	}
	return nil
}

// happened is what people may want to know of a thread: nothing of what they are told in notices.
func happened(threads *tree.Tree, h thread.Happening) host.Notice {
	state := map[thread.HappeningKind]thread.State{
		thread.HappenedAsks: thread.StateQuestion, thread.HappenedDone: thread.StateDone, thread.HappenedStuck: thread.StateFailed,
		thread.HappenedLimited: thread.StateLimited, thread.HappenedCut: thread.StateCut,
	}[h.Kind]
	if state == "" {
		return host.Notice{}
	}
	name := cmp.Or(h.Label, h.Name)
	if s := threads.Thread(h.Thread); s != nil {
		name = threads.Called(s)
	}
	return host.Notice{Level: thread.LevelInfo, Text: tree.LookOfState(state).Glyph + " " + name + " " + h.Words(), At: h.At}
}

// switchTo shows a thread because the verb `switch` asked for it. Only the user gives an agent the keyboard: the focus
// goes to the list, and what is being typed for the agent shown before is ignored.
func (m *Model) switchTo(id thread.ID) tea.Cmd {
	if !m.tree.Select(id) {
		return nil
	}
	if m.scopes()[0] == intent.Terminal {
		m.typing.LoseFocus(m.cfg.Clock())
	}
	m.views.Show(views.Terminal)
	m.follow.FocusWhenRunning("")
	m.screen.area, m.screen.stale = areaTree, true
	return m.host.Notify(thread.LevelInfo,
		m.host.Name(id)+" shown by `switch`; press "+m.keys.KeyOf(intent.Focus)+" to type into it")
}
