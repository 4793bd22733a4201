package eventlog

import (
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
)

// most is how many happenings are shown.
const most = 2000

// log is what is known of what happened.
type log struct {
	notices *host.Notices // of this screen
	clock   func() time.Time
	list    []thread.Happening // oldest first; empty until it was asked for
	asked   bool               // it was
	err     string             // why it is not there
}

// add adds what has just happened; false if that is known, or the log was not asked for yet.
func (l *log) add(h thread.Happening) bool {
	if !l.asked {
		return false
	}
	if n := len(l.list); n > 0 && h.Seq <= l.list[n-1].Seq {
		return false
	}
	if len(l.list) >= most+most/4 {
		l.list = slices.Clone(l.list[len(l.list)-most:])
	}
	l.list = append(l.list, h)
	return true
}

// rows returns all that happened, newest first.
func (l *log) rows() []row {
	var all []row
	for _, n := range l.notices.All() {
		if !n.Logged {
			all = append(all, rowOfNotice(n))
		}
	}
	for _, h := range l.list {
		all = append(all, rowOf(h))
	}
	slices.SortStableFunc(all, func(a, b row) int { return b.at.Compare(a.at) })
	return all
}
