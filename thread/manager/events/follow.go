package events

import (
	"time"

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
	said    string // of the person
	text    []byte
	over    bool // too long to keep
}

// follower is one subscriber of a thread.
type follower struct {
	subscriber
	thread thread.ID
	size   int   // of the queue
	missed bool  // something was lost after the end of the queue
	lost   int64 // request whose speech was lost in part
}

// add lets a follower hear of its thread, and first what the running response has said so far.
func (fs *followers) add(f *follower, now time.Time) {
	if fs.by == nil {
		fs.by = make(map[thread.ID]map[*follower]struct{})
	}
	if fs.by[f.thread] == nil {
		fs.by[f.thread] = make(map[*follower]struct{})
	}
	fs.by[f.thread][f] = struct{}{}
	if s := fs.said[f.thread]; s != nil {
		f.queueEvent(thread.Event{
			At: now, Kind: thread.EventSpeech, ThreadID: f.thread,
			Speech: &thread.Speech{Request: s.request, Said: s.said, Text: string(s.text), Missed: s.over},
		})
	}
}

// remove ends what add began.
func (fs *followers) remove(f *follower) {
	delete(fs.by[f.thread], f)
	if len(fs.by[f.thread]) == 0 {
		delete(fs.by, f.thread)
	}
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
		now = &soFar{request: s.Request, said: s.Said}
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
		f.wake.Notify()
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
		cost = len(s.Text) + len(s.Said) + followEvent/8
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

// take empties the queue. Where it was empty and something was lost, the follower is told so.
func (f *follower) take() []thread.Event {
	batch := f.subscriber.take()
	f.size = 0
	if len(batch) == 0 && f.missed {
		f.missed = false
		batch = []thread.Event{{
			Kind: thread.EventSpeech, ThreadID: f.thread, Speech: &thread.Speech{Request: f.lost, Missed: true},
		}}
	}
	return batch
}

// join adds a piece of speech to the newest in the queue where both are of one response.
func (f *follower) join(s *thread.Speech) bool {
	if s == nil || s.Missed || len(f.queue) == 0 {
		return false
	}
	last := &f.queue[len(f.queue)-1]
	l := last.Speech
	if l == nil || l.Request != s.Request || l.Done || l.Missed || len(l.Text)+len(s.Text) > followPiece {
		return false
	}
	joined := *s
	joined.Text, joined.Said = last.Speech.Text+s.Text, last.Speech.Said
	last.Speech = &joined // others may be reading the previous one
	return true
}

// notify wakes all pumps.
func (fs *followers) notify() {
	for _, those := range fs.by {
		for f := range those {
			f.wake.Notify()
		}
	}
}
