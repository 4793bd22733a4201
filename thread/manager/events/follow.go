package events

import (
	"orchestrator/thread"
)

// The limits on what is kept for followers, in bytes.
const (
	followBacklog = 256 << 10 // per follower
	followPiece   = 4 << 10   // up to which pieces of speech are joined
	followEvent   = 2 << 10   // counted per event, besides its text
	followSoFar   = 64 << 10  // of a response, for followers that come later
)

// followers are the subscribers of single threads. The backlog of each is bounded in bytes: a slow one delays nobody
// and loses new events, is told so once it has read the rest, and gets nothing more of a response that it lost a part
// of. Bus.mu guards all of it.
type followers struct {
	by   map[thread.ID]map[*follower]struct{}
	said map[thread.ID]*soFar
}

// soFar is the text so far of a thread's running response.
type soFar struct {
	request int64
	text    []byte
	over    bool // too long to keep
}

// follower is one subscriber of a thread.
type follower struct {
	subscriber
	size   int   // of the queue
	missed bool  // something was lost after the end of the queue
	lost   int64 // request whose speech was lost in part
}

// keep records the speech of a thread's running response.
func (fs *followers) keep(id thread.ID, s thread.Speech) {
	now := fs.said[id]
	if s.Done {
		if now != nil && now.request == s.Request {
			delete(fs.said, id)
		}
		return
	}
	if fs.said == nil {
		fs.said = make(map[thread.ID]*soFar)
	}
	if now == nil || now.request != s.Request {
		now = &soFar{request: s.Request}
		fs.said[id] = now
	}
	if now.over = now.over || s.Missed || len(now.text)+len(s.Text) > followSoFar; now.over {
		now.text = nil
		return
	}
	now.text = append(now.text, s.Text...)
}

// publish delivers an event to the followers of its thread.
func (fs *followers) publish(e thread.Event) {
	for f := range fs.by[e.ThreadID] {
		f.queueEvent(e)
		f.notify()
	}
}

// queueEvent queues an event if there is room for it.
func (f *follower) queueEvent(e thread.Event) {
	cost := followEvent
	if s := e.Speech; s != nil {
		if s.Missed {
			f.lost = max(f.lost, s.Request)
		}
		if s.Request <= f.lost && !s.Missed && !s.Done {
			return
		}
		cost = len(s.Text) + followEvent/8
	}
	switch {
	case f.missed, f.size+cost > followBacklog:
		f.missed = true
		if e.Speech != nil {
			f.lost = max(f.lost, e.Speech.Request)
		}
	case f.join(e.Speech):
		f.size += len(e.Speech.Text)
	default:
		f.size += cost
		f.queue = append(f.queue, e)
	}
}

// join appends a piece of speech to the newest in the queue if both belong to the same response.
func (f *follower) join(s *thread.Speech) bool {
	if s == nil || s.Missed || len(f.queue) == 0 {
		return false
	}
	last := &f.queue[len(f.queue)-1]
	if l := last.Speech; l == nil || l.Request != s.Request || l.Done || l.Missed ||
		len(l.Text)+len(s.Text) > followPiece {
		return false
	}
	joined := *s
	joined.Text = last.Speech.Text + s.Text
	last.Speech = &joined // others may be reading the previous one
	return true
}

// notify wakes all pumps.
func (fs *followers) notify() {
	for _, those := range fs.by {
		for f := range those {
			f.notify()
		}
	}
}
