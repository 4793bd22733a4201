package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

const (
	// noticeTime is how long a notice stands in the status line.
	noticeTime = 8 * time.Second
	// keepNotices is how many are kept to be read later.
	keepNotices = 200
)

// notice is a message for the person.
type notice struct {
	level thread.Level
	text  string
	at    time.Time
}

// news is what the person is told: notices, offers, and whether they are looking.
type news struct {
	log      []notice
	now      *notice // in the status line
	gen      int
	answered map[string]bool // offers, by id: the server tells a little later that they are gone
	focused  bool            // the window; true until the terminal says otherwise
	greeted  bool            // the first run was explained, or was none
}

func (n *news) show(x notice) {
	n.gen++
	n.now = &x
}

// tell puts a notice into the status line for a while.
func (m *Model) tell(level thread.Level, text string) tea.Cmd {
	n := notice{level: level, text: text, at: m.cfg.Clock()}
	m.news.log = append(m.news.log, n)
	if len(m.news.log) > keepNotices {
		m.news.log = slices.Delete(m.news.log, 0, len(m.news.log)-keepNotices)
	}
	m.news.show(n)
	m.screen.stale = true
	return m.cfg.After(noticeTime, noticeOverMsg{m.news.gen})
}

// fail tells what did not work; where the status line has no room for it, in a dialog.
func (m *Model) fail(what string, err error) tea.Cmd {
	text := err.Error()
	if !strings.HasPrefix(text, what+":") && !strings.HasPrefix(text, what+" ") {
		text = what + ": " + text
	}
	const others = 40 // cells of the status line that say something else
	if plain.Width(plain.Line(text)) > m.screen.w-others || strings.Contains(text, "\n") {
		var body []dialog.Line
		for _, l := range plain.Lines(err.Error()) {
			body = append(body, dialog.Line{Text: l})
		}
		m.dialogs.Push(dialog.NewText(what, body))
	}
	return m.tell(thread.LevelError, text)
}

// showMessages opens the log.
func (m *Model) showMessages() {
	var body []dialog.Line
	for _, n := range slices.Backward(m.news.log) {
		body = append(body, dialog.Line{Text: n.at.Format("15:04:05 ") + n.text, Tok: levelToken(n.level)})
	}
	if len(body) == 0 {
		body = dialog.Plain("nothing was said so far")
	}
	m.dialogs.Push(dialog.NewText("messages", body))
}

func levelToken(l thread.Level) theme.Token {
	switch l {
	case thread.LevelError:
		return theme.Bad
	case thread.LevelWarn:
		return theme.Warn
	default:
		return theme.Text
	}
}

// offer returns the fork offered for the selected thread.
func (m *Model) offer() *thread.Offer {
	s := m.tree.Selected()
	if s == nil || s.Offer == nil || m.news.answered[s.Offer.ID] {
		return nil
	}
	return s.Offer
}

// answer answers an offer.
func (m *Model) answer(id, how, said string) tea.Cmd {
	m.news.answered[id] = true
	return m.answerOffer(id, how, said)
}

// attention tells of a thread that came to wait while nobody looks at the window.
func (m *Model) attention(before, now *thread.Status) tea.Cmd {
	if m.news.focused || !tree.Waits(now) || before == nil {
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
