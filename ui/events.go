package ui

import (
	"cmp"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/alert"
	"orchestrator/ui/eventlog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
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
		return m.looking()
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
		if e.Notice != nil && e.Notice.About == "" { // else its happening is told
			text := e.Notice.Text
			if s := m.tree.Thread(e.ThreadID); s != nil && !strings.Contains(text, m.tree.Called(s)) {
				text = m.tree.Called(s) + ": " + text
			}
			return m.host.Tell(e.Notice.Level, text)
		}
	case thread.EventHappened:
		if e.Happening != nil {
			m.events.Add(*e.Happening)
			return m.call(*e.Happening)
		}
	case thread.EventRecord:
		m.money.Again() // budgets of work sessions
		if e.Record != nil {
			return tea.Batch(m.work.Touched(e.Record.Sessions), m.waves.Touched(e.Record.Tasks))
		}
	case thread.EventRun: // only those who follow the run are told
	case thread.EventSpeech: // the terminal shows the model's output
	case thread.EventSwitch:
		return m.switchTo(e.ThreadID)
	}
	return nil
}

// call notes what happened to a thread, and calls the person if they are not looking at it.
func (m *Model) call(h thread.Happening) tea.Cmd {
	name := cmp.Or(h.Label, h.Name)
	if s := m.tree.Thread(h.Thread); s != nil {
		name = m.tree.Called(s)
	}
	n := host.Notice{Level: thread.LevelInfo, Text: eventlog.Mark(h.Kind) + " " + name + " " + h.Words(), At: h.At}
	w := alert.Window{Focused: m.windowFocused, Known: m.focusKnown}
	if m.paneSeen() {
		w.Shown = m.follow.Shown()
	}
	ring, line := m.cfg.Alert.Of(h, w)
	if line && h.Kind.NeedsPerson() {
		n.Level = thread.LevelWarn
	}
	if line || slices.Contains(onTheLine(), h.Kind) {
		m.host.Notices.Happened(n)
	}
	if !line {
		return nil
	}
	return tea.Batch(ring, m.host.ShowNotice(n))
}

// onTheLine are the kinds that stand on the line of what happened last, though they call nobody: the others are told in
// notices, or are nothing to wait for.
func onTheLine() []thread.HappeningKind {
	return []thread.HappeningKind{thread.HappenedAsks, thread.HappenedDone, thread.HappenedStuck, thread.HappenedLimited, thread.HappenedCut}
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
