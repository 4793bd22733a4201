package host

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/theme"
)

const (
	// NoticeTime is how long a notice is shown in the status line.
	NoticeTime = 8 * time.Second
	// keepNotices is how many notices are kept in the log.
	keepNotices = 200
)

// Notice is a message for the user.
type Notice struct {
	Level thread.Level
	Text  string
	At    time.Time
}

// Token returns the style of a notice.
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

// Notices is the log of notices, oldest first, and the one shown in the status line.
type Notices struct {
	log []Notice
	now *Notice
	gen int
}

// Add adds a notice to the log.
func (n *Notices) Add(x Notice) {
	n.log = append(n.log, x)
	if len(n.log) > keepNotices {
		n.log = slices.Delete(n.log, 0, len(n.log)-keepNotices)
	}
}

// show shows a notice in the status line.
func (n *Notices) show(x Notice) (gen int) {
	n.gen++
	n.now = &x
	return n.gen
}

// clear removes the notice of a generation from the status line, unless another one has replaced it.
func (n *Notices) clear(gen int) {
	if gen == n.gen {
		n.now = nil
	}
}

// Last returns the last notice, nil if there was none, and whether it is news.
func (n *Notices) Last() (last *Notice, news bool) {
	if n.now != nil {
		return n.now, true
	}
	if len(n.log) == 0 {
		return nil, false
	}
	return &n.log[len(n.log)-1], false
}

// All returns all notices, oldest first.
func (n *Notices) All() []Notice { return n.log }

// Contains reports whether the log has a notice with this text.
func (n *Notices) Contains(text string) bool {
	return slices.ContainsFunc(n.log, func(x Notice) bool { return x.Text == text })
}
