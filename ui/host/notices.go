package host

import (
	"fmt"
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
	// keepRecent is how many notices and happenings the line of the last ones may show.
	keepRecent = 3
)

// Notice is a message for the user.
type Notice struct {
	Level thread.Level
	Text  string
	At    time.Time
	Times int // that it was said in a row, 0 for once
	// Logged is set for one of the server: it is in the event log, too.
	Logged bool
}

// String returns its text, with how often it was said in a row.
func (n Notice) String() string {
	if n.Times < 2 {
		return n.Text
	}
	return fmt.Sprintf("%s (%d×)", n.Text, n.Times)
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

// Notices is the log of notices, oldest first, the one that is news, and what was said or happened last.
type Notices struct {
	log    []Notice
	now    *Notice
	gen    int
	recent []Notice // newest first
}

// Happened notes what has happened to a thread. It is no news: the list shows it. A dialog that is drawn anew asks again.
func (n *Notices) Happened(x Notice) {
	if x.Text == "" {
		return
	}
	n.recent = slices.DeleteFunc(n.recent, func(r Notice) bool { return r.Text == x.Text && r.Level == x.Level })
	n.recent = slices.Insert(n.recent, 0, x)
	n.recent = n.recent[:min(len(n.recent), keepRecent)]
}

// Add adds a notice to the log; one that is said again is counted. It returns what the log has of it.
func (n *Notices) Add(x Notice) Notice {
	if last := len(n.log) - 1; last >= 0 && n.log[last].Text == x.Text && n.log[last].Level == x.Level {
		x.Times = max(n.log[last].Times, 1) + 1
		n.log = n.log[:last]
	}
	n.Happened(x)
	n.log = append(n.log, x)
	if len(n.log) > keepNotices {
		n.log = slices.Delete(n.log, 0, len(n.log)-keepNotices)
	}
	return x
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

// Now returns the notice that is news, or nil.
func (n *Notices) Now() *Notice { return n.now }

// Recent returns the last notices and happenings, newest first, without the one that is news.
func (n *Notices) Recent() []Notice {
	if n.now == nil {
		return n.recent
	}
	return slices.DeleteFunc(slices.Clone(n.recent), func(r Notice) bool { return r == *n.now })
}

// All returns all notices, oldest first.
func (n *Notices) All() []Notice { return n.log }

// Contains reports whether the log has a notice with this text.
func (n *Notices) Contains(text string) bool {
	return slices.ContainsFunc(n.log, func(x Notice) bool { return x.Text == text })
}
