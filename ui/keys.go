package ui

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/typing"

	tea "charm.land/bubbletea/v2"
)

// key handles a key: the agent gets it if it is focused, and otherwise the table looks it up.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	scope := m.scopes()[0]
	in := m.keys.Lookup(m.scopes(), intent.Key{Name: k.String(), Text: k.Key().Text})
	gap := m.typing.SinceLast(m.cfg.Clock())
	if m.screen.tooSmall() && !harmless(in) {
		return nil // the user cannot see what it would answer
	}
	if scope == intent.Terminal && in != intent.Leave && in != intent.NextWait && in != intent.LastSeen {
		return m.toPane(k)
	}
	text := k.Key().Text != ""
	switch quits := in == intent.Quit && text && m.typing.Alone(); {
	case quits && m.typing.Held() == intent.Quit:
		return m.leave()
	case quits && m.typing.Held() == nil:
		return m.leaveSoon()
	case text || in == intent.Focus:
		m.typing.Drop()
	case (in == intent.Accept || in == intent.Submit) && (scope == intent.Form || scope.IsMenu()) && m.typing.Held() != nil: // it would choose something else
		m.typing.Drop()
		return m.ignore(m.typing.Ignored(typing.Key{Scope: scope, Intent: in, SinceLast: gap, Now: m.cfg.Clock()}))
	case in == intent.Leave || in == intent.Cancel:
		m.typing.Forget() // esc takes back a letter that has not acted yet
	}
	if text && scope.IsMenu() && (waits(m.dialogs.Top(), scope, in) == "" && in != intent.Cancel || m.typing.Typed()) {
		m.dialogs.Close(m.dialogs.Top()) // a sentence began with the key that opened it
		m.screen.stale = true
	}
	picker, _ := m.dialogs.Top().(*dialog.Picker)
	if why := m.typing.Ignored(typing.Key{Scope: scope, Intent: in, Text: text, Acts: picker.Acts(), SinceLast: gap, Now: m.cfg.Clock(),
		Place: m.typingPlace()}); why != "" {
		return m.ignore(why)
	}
	if in == nil {
		return nil
	}
	m.screen.stale = true
	if in == intent.Leave { // also what was to be focused soon
		m.screen.left = m.cfg.Clock()
		m.follow.FocusWhenRunning("")
	}
	if form, ok := m.dialogs.Top().(*dialog.Form); ok && in == intent.Accept && m.typing.Bursts() && form.Lines() {
		in = intent.NewLine // of pasted text
	}
	if form, ok := m.dialogs.Top().(*dialog.Form); ok && m.typing.Alone() && m.typing.Begins() {
		if pick, words := form.Digit(in); words != "" {
			return m.hold(pick, k.String()+" "+words, typing.AnswerDelay, func() tea.Cmd {
				if m.dialogs.Top() != form {
					return nil
				}
				return m.do(pick)
			})
		}
	}
	if do, words := m.waves.Answer(in); do != nil && !m.dialogs.Open() && scope == intent.Tree {
		return m.hold(in, k.String()+" "+words, typing.AnswerDelay, do)
	}
	if do, words := m.questions.Answer(in); do != nil && (!m.dialogs.Open() || scope == intent.Items && m.inbox.Asks()) {
		if scope == intent.Items && m.inbox.Cut() {
			do = m.questions.ShowWhole
		}
		return m.hold(in, k.String()+" "+words, typing.AnswerDelay, do)
	}
	if words := waits(m.dialogs.Top(), scope, in); words != "" && text {
		top, of, on := m.dialogs.Top(), item(m), m.tree.Selected()
		return m.hold(in, k.String()+" "+words, typing.AnswerDelay, func() tea.Cmd {
			now := m.tree.Selected()
			if m.dialogs.Top() != top || (now == nil) != (on == nil) || now != nil && now.ID != on.ID || of != "" && item(m) != of {
				return m.host.Notify(thread.LevelInfo, "Key ignored: what it was meant for has changed")
			}
			return m.do(in)
		})
	}
	return m.do(in)
}

// item names what is under the cursor of the dialog on top, "" where that does not matter.
func item(m *Model) string {
	if m.dialogs.Open() && m.dialogs.Top().Scope() == intent.Items {
		return m.inbox.Item()
	}
	return m.waves.Item()
}

// waits returns what to say of a letter that acts only when no text follows it, "" for others: it answers an offer, or
// is an entry of a menu.
func waits(top dialog.Dialog, scope intent.Scope, in intent.Intent) string {
	switch {
	case scope == intent.Waves || scope == intent.Graph:
		switch in {
		case intent.Yes:
			return "says yes"
		case intent.No:
			return "says no"
		}
	case in == intent.TakeOffer, in == intent.Yes && scope == intent.Items:
		return "accepts"
	case in == intent.DismissOffer, in == intent.No && scope == intent.Items:
		return "dismisses"
	}
	if act, ok := in.(intent.Action); ok && scope.IsMenu() {
		if menu, ok := top.(*dialog.Menu); ok {
			if it, has := menu.Item(act); has {
				return "chooses “" + it.Text + "”"
			}
		}
	}
	return ""
}

// acts reports whether a text, as keys, would do anything but move.
func (m *Model) acts(text string) bool {
	for _, r := range text {
		k := intent.Key{Name: string(r), Text: string(r)}
		switch r {
		case '\r', '\n':
			k = intent.Key{Name: "enter"}
		case '\t':
			k = intent.Key{Name: "tab"}
		case ' ':
			k.Name = "space"
		}
		if in := m.keys.Lookup(m.scopes(), k); in == nil || !intent.Moves(in) {
			return true
		}
	}
	return false
}

// harmless reports whether an intent may be handled while nothing is shown, because it only leaves something.
func harmless(in intent.Intent) bool {
	return in == intent.Quit || in == intent.Suspend || in == intent.Cancel || in == intent.Leave
}

func (m *Model) paste(p tea.PasteMsg) tea.Cmd {
	if m.screen.tooSmall() {
		return nil
	}
	switch scope := m.scopes()[0]; scope {
	case intent.Terminal:
		return m.toPane(p)
	case intent.Form, intent.Field:
		m.screen.stale = true
		return m.do(intent.Type{Text: p.Content})
	case intent.Confirm:
		m.screen.stale = true
		return tea.Batch(m.do(intent.Type{}), m.ignore(typing.TextIgnored(scope, m.typingPlace())))
	default:
		return m.ignore(typing.TextIgnored(scope, m.typingPlace()))
	}
}

// ignore says that keys are ignored, once per burst of keys.
func (m *Model) ignore(why string) tea.Cmd {
	if !m.typing.ShouldTell() {
		return nil
	}
	return m.host.Notify(thread.LevelWarn, why)
}

// typingPlace is where the keys go, for people whose text is ignored.
func (m *Model) typingPlace() typing.Place {
	p := typing.Place{Leave: m.keys.LeaveKey(), Focus: m.keys.KeyOf(intent.Focus)}
	if s := m.tree.Selected(); s != nil {
		p.Agent = m.tree.Called(s)
	}
	return p
}
