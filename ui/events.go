package ui

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/tree"
	"orchestrator/ui/views"

	tea "charm.land/bubbletea/v2"
)

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
			return m.views.Checkpoint(*e.Checkpoint)
		}
	case thread.EventPrompt:
		if e.Prompt != nil {
			return m.prompts.Changed(*e.Prompt)
		}
	case thread.EventNotice:
		if e.Notice != nil {
			return m.host.Tell(e.Notice.Level, e.Notice.Text)
		}
	case thread.EventSpeech: // the terminal shows what the model says
	case thread.EventSwitch:
		return m.switchTo(e.ThreadID)
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
		m.typing.Take(m.cfg.Clock())
	}
	m.views.Show(views.Terminal)
	m.follow.Wish("")
	m.screen.area, m.screen.stale = areaTree, true
	return m.host.Tell(thread.LevelInfo, m.host.Name(id)+" is shown, as was asked from elsewhere; "+m.keys.KeyOf(intent.Focus)+" types into it")
}

// attention tells of a thread that came to wait while nobody looks at the window.
func (m *Model) attention(before, now *thread.Status) tea.Cmd {
	if m.looks || !tree.Waits(now) || before == nil {
		return nil
	}
	if before.State.State == now.State.State && before.State.Since.Equal(now.State.Since) {
		return nil
	}
	if tree.Waits(before) && before.State.State == now.State.State {
		return nil
	}
	return m.notify(now.DisplayName() + ": " + tree.LookOf(now).Word)
}

// notify rings as configured. The text is safe: nothing in it can end the sequence early.
func (m *Model) notify(text string) tea.Cmd {
	seq := notification(m.cfg.Notify, text)
	if seq == "" {
		return nil
	}
	return tea.Raw(seq)
}

// notification returns the bytes that tell of a text in the given ways.
func notification(ways []string, text string) string {
	text = plain.Cut(strings.Map(func(r rune) rune {
		if r == ';' {
			return ','
		}
		return r
	}, plain.Line(text)), 200)
	var b strings.Builder
	for _, w := range ways {
		switch w {
		case "bell":
			b.WriteByte('\a')
		case "osc9":
			fmt.Fprintf(&b, "\x1b]9;%s\x1b\\", text)
		case "osc777":
			fmt.Fprintf(&b, "\x1b]777;notify;orchestrator;%s\x1b\\", text)
		}
	}
	return b.String()
}
