package events

import (
	"orchestrator/thread"
)

// The bounds of what is kept for those that follow a thread, in bytes.
const (
	followBacklog = 256 << 10 // for one of them
	followPiece   = 4 << 10   // that pieces of speech are joined to
	followEvent   = 2 << 10   // that an event counts for, beside its text
	followSoFar   = 64 << 10  // of a response, for those that come later
)

// followers are the bus's subscribers of single threads. What they are told is bounded in bytes for each: one that is
// slow costs nobody anything and loses what comes, is told so once it has read the rest, and hears of what it lost in
// the middle of a response nothing more until the next one. Bus.mu guards all of it.
type followers struct {
	by   map[thread.ID]map[*follower]struct{}
	said map[thread.ID]*soFar
}

// soFar is what the running response of a thread has said.
type soFar struct {
	request int64
	text    []byte
	over    bool // it is too long to be kept
}

// follower is one subscriber of a thread.
type follower struct {
	subscriber
	size   int   // of the queue
	missed bool  // something was lost behind what is in the queue
	lost   int64 // request whose speech was lost in part
}

// keep notes what a thread's running response has said.
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

// publish tells an event to those that follow its thread.
func (fs *followers) publish(e thread.Event) {
	for f := range fs.by[e.ThreadID] {
		f.queueEvent(e)
		f.notify()
	}
}

// queueEvent queues an event where there is room for it.
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

// join adds a piece of speech to the newest in the queue where both are of one response.
func (f *follower) join(s *thread.Speech) bool {
	if s == nil || s.Missed || len(f.queue) == 0 {
		return false
	}
	last := &f.queue[len(f.queue)-1]
	if l := last.Speech; l == nil || l.Request != s.Request || l.Done || l.Missed || len(l.Text)+len(s.Text) > followPiece {
		return false
	}
	joined := *s
	joined.Text = last.Speech.Text + s.Text
	last.Speech = &joined // others may read the one before
	return true
}

// notify has all pumps look at their queues.
func (fs *followers) notify() {
	for _, those := range fs.by {
		for f := range those {
			f.notify()
		}
	}
}
