package host

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/theme"
)

const (
	// NoticeTime is how long a notice is in the status line.
	NoticeTime = 8 * time.Second
	// keepNotices is how many are kept to be read later.
	keepNotices = 200
)

// Notice is a message for the person.
type Notice struct {
	Level thread.Level
	Text  string
	At    time.Time
}

// Token is the colour of a notice.
func (n Notice) Token() theme.Token {
	switch n.Level {
	case thread.LevelError:
		return theme.Bad
	case thread.LevelWarn:
		return theme.Warn
	default:
		return theme.Text
	}
}

// Notices are what the person was told, oldest first, and which of it is in the status line.
type Notices struct {
	log []Notice
	now *Notice
	gen int
}

// Note keeps a notice to be read later.
func (n *Notices) Note(x Notice) {
	n.log = append(n.log, x)
	if len(n.log) > keepNotices {
		n.log = slices.Delete(n.log, 0, len(n.log)-keepNotices)
	}
}

// show puts a notice into the status line.
func (n *Notices) show(x Notice) (gen int) {
	n.gen++
	n.now = &x
	return n.gen
}

// over takes the notice of a generation off the status line, where no other has taken its place.
func (n *Notices) over(gen int) {
	if gen == n.gen {
		n.now = nil
	}
}

// Now is the notice in the status line, nil where there is none.
func (n *Notices) Now() *Notice { return n.now }

// All returns what was told, oldest first.
func (n *Notices) All() []Notice { return n.log }

// Told reports whether a text is among the notices.
func (n *Notices) Told(text string) bool {
	return slices.ContainsFunc(n.log, func(x Notice) bool { return x.Text == text })
}
