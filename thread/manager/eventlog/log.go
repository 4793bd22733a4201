// Package eventlog tells what happened in all threads as lines for people, and keeps the newest of them.
//
// It guarantees that the log is bounded: so many happenings, each of one short line of harmless text without secrets. The
// numbers of happenings only grow, also across restarts: whoever has seen one can ask for what followed, and is told if
// that is not kept any more. What happened before the server started is not told again. A file keeps the log across
// restarts; it is written a moment after the fact, not synced, and a log that cannot be read or written costs nothing but
// itself.
//
// Log and Teller are guarded by their caller's lock; File is used by one goroutine.
package eventlog

import (
	"orchestrator/thread"
)

// The limits of a log.
const (
	Most      = 2000 // happenings that are kept
	asked     = 200  // returned if no limit is given
	mostText  = 240  // characters of a text
	mostLabel = 80   // characters of a name
)

// Log has the newest happenings, oldest first. The zero value is empty.
type Log struct {
	kept []thread.Happening
	lost int64 // the number of the newest that is not kept any more
}

// Add appends a happening with its number.
func (l *Log) Add(h thread.Happening) {
	if len(l.kept) >= Most+Most/4 { // moved seldom
		drop := len(l.kept) - Most + 1
		l.lost = l.kept[drop-1].Seq
		n := copy(l.kept, l.kept[drop:])
		clear(l.kept[n:])
		l.kept = l.kept[:n]
	}
	l.kept = append(l.kept, h)
}

// Find returns what a query asks for, of one thread if id is set.
func (l *Log) Find(q thread.HappeningQuery, id thread.ID) thread.HappeningList {
	limit := q.Limit
	if limit <= 0 {
		limit = asked
	}
	limit = min(limit, Most)
	list := thread.HappeningList{Happenings: []thread.Happening{}, Newest: q.Since, Lost: q.Since > 0 && q.Since < l.lost}
	var found []thread.Happening
	for _, h := range l.kept[max(0, len(l.kept)-Most):] {
		if (id == "" || h.Thread == id) && q.Matches(h) {
			found = append(found, h)
		}
	}
	if n := len(l.kept); n > 0 {
		list.Newest = max(list.Newest, l.kept[n-1].Seq)
	}
	if list.Left = max(0, len(found)-limit); list.Left > 0 {
		if q.Since > 0 {
			found = found[:limit]
			list.Newest = found[limit-1].Seq
		} else {
			found = found[list.Left:]
		}
	}
	list.Happenings = append(list.Happenings, found...)
	return list
}

// Forget drops what is about a thread.
func (l *Log) Forget(id thread.ID) {
	kept := l.kept[:0]
	for _, h := range l.kept {
		if h.Thread != id {
			kept = append(kept, h)
		}
	}
	clear(l.kept[len(kept):])
	l.kept = kept
}
