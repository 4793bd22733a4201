package ui

import (
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

const (
	// pause is how long a person who types without looking stops at most between two keys.
	pause = 700 * time.Millisecond
	// parting is how long a letter that quits waits for another: what comes behind it would go to the shell.
	parting = 250 * time.Millisecond
	// glance is how long a person at least needs to see that a dialog has opened.
	glance = 500 * time.Millisecond
)

// hands is what is known of how keys come, so that text which is meant for somebody else does nothing here.
type hands struct {
	burst bool // what comes now came in one read
	told  bool // of what is being ignored
	// taken says why text is ignored until the person pauses: what was typed before it was meant for somebody else.
	taken string
	last  time.Time

	leaving  bool // a letter said to quit, and no other has come yet
	partings int

	top   dialog.Dialog // the dialog on top, and since when
	since time.Time
}

// late notes a key and returns how long after the one before it comes.
func (h *hands) late(now time.Time) time.Duration {
	d := now.Sub(h.last)
	h.last = now
	return d
}

// take notes that the agent lost the keys, but not by a key: what is being typed was meant for it.
func (h *hands) take(now time.Time) {
	if now.Sub(h.last) < pause {
		h.taken, h.told = "text ignored: its agent is not on show any more", false
	}
}

// stay takes back that a letter said to quit: where a text goes on behind it, it was a part of that, and the rest is
// meant for somebody else, too.
func (h *hands) stay(key string) {
	if h.leaving {
		h.leaving, h.told, h.taken = false, false, "text ignored; "+key+" quits when typed alone"
	}
}

// leaveSoon quits, unless the letter that says so turns out to be the beginning of a text.
func (m *Model) leaveSoon() tea.Cmd {
	m.hands.leaving = true
	m.hands.partings++
	return m.cfg.After(parting, partingMsg{m.hands.partings})
}

// leave quits.
func (m *Model) leave() tea.Cmd {
	m.stop()
	return tea.Quit
}

// burst begins or ends what came in one read.
func (m *Model) burst(on bool) {
	m.hands.burst, m.hands.told = on, false
}

// opened notes since when a dialog has been on top.
func (m *Model) opened() {
	if top := m.dialogs.Top(); top != m.hands.top {
		m.hands.top, m.hands.since = top, m.cfg.Clock()
	}
}

// meantElsewhere says why a key that means something here is ignored, "" where it is not. Keys that only move
// are always taken.
func (m *Model) meantElsewhere(scope intent.Scope, in intent.Intent, text bool, late time.Duration) string {
	h := &m.hands
	if late >= pause || in != nil && intent.Moves(in) && !text {
		h.taken = ""
	}
	switch {
	case h.taken != "":
		return h.taken
	case !h.burst || in != nil && intent.Moves(in):
		return ""
	}
	switch scope {
	case intent.Form, intent.Field:
		ends := in == intent.Accept || in == intent.Submit
		if !ends || m.cfg.Clock().Sub(h.since) >= glance {
			return "" // text is what belongs there
		}
	case intent.Confirm:
		if _, typed := in.(intent.Type); typed {
			return "" // it is told
		}
	default:
	}
	return m.textIgnored(scope)
}

// textIgnored says what happens to text where keys are commands.
func (m *Model) textIgnored(scope intent.Scope) string {
	switch scope {
	case intent.Confirm, intent.List, intent.Resuming, intent.Form, intent.Field:
		return "text ignored: a dialog is open"
	default:
		return "text ignored; " + m.keys.KeyOf(intent.Focus) + " types into the agent"
	}
}

// ignore tells, once for what comes together, that keys are ignored.
func (m *Model) ignore(why string) tea.Cmd {
	if m.hands.told && (m.hands.burst || m.hands.taken != "") {
		return nil
	}
	m.hands.told = true
	return m.tell(thread.LevelWarn, why)
}
