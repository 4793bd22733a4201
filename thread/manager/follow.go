package manager

import (
	"context"
	"time"

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
// the middle of a response nothing more until the next one. bus.mu guards all of it.
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

// Speech returns the events of one thread from now on with what its model says, in the order in which all that
// happens, until ctx ends. A response that is under way is told from its beginning. One that falls behind is told a
// speech that was missed, after which it asks again for what it wants to know.
func (m *Manager) Speech(ctx context.Context, ref string) (<-chan thread.Event, error) {
	l, err := m.find(ref)
	if err != nil {
		return nil, err
	}
	return m.bus.subscribeTo(ctx, l.id, m.now()), nil
}

// Spoke implements Observer.
func (m *Manager) Spoke(id thread.ID, s thread.Speech) {
	e := thread.Event{At: m.now(), Kind: thread.EventSpeech, ThreadID: id, Speech: &s}
	m.bus.mu.Lock()
	defer m.bus.mu.Unlock()
	if !m.bus.closed {
		m.bus.follow.keep(id, s)
		m.bus.follow.publish(e)
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
		f.hear(e)
		f.rouse()
	}
}

// hear queues an event where there is room for it.
func (f *follower) hear(e thread.Event) {
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

// subscribeTo returns a channel of what is published of a thread from now on.
func (b *bus) subscribeTo(ctx context.Context, id thread.ID, now time.Time) <-chan thread.Event {
	out := make(chan thread.Event)
	f := &follower{subscriber: subscriber{wake: make(chan struct{}, 1)}}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		close(out)
		return out
	}
	if b.follow.by == nil {
		b.follow.by = make(map[thread.ID]map[*follower]struct{})
	}
	if b.follow.by[id] == nil {
		b.follow.by[id] = make(map[*follower]struct{})
	}
	b.follow.by[id][f] = struct{}{}
	if s := b.follow.said[id]; s != nil {
		f.hear(thread.Event{At: now, Kind: thread.EventSpeech, ThreadID: id, Speech: &thread.Speech{Request: s.request, Text: string(s.text), Missed: s.over}})
	}
	go b.pumpTo(ctx, id, f, out)
	return out
}

// pumpTo moves a follower's events to its channel until ctx or the bus ends.
func (b *bus) pumpTo(ctx context.Context, id thread.ID, f *follower, out chan<- thread.Event) {
	defer close(out)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.follow.by[id], f)
		if len(b.follow.by[id]) == 0 {
			delete(b.follow.by, id)
		}
	}()
	for {
		b.mu.Lock()
		batch := f.queue
		f.queue, f.size = nil, 0
		if len(batch) == 0 && f.missed {
			f.missed = false
			batch = []thread.Event{{Kind: thread.EventSpeech, ThreadID: id, Speech: &thread.Speech{Request: f.lost, Missed: true}}}
		}
		closed := b.closed
		b.mu.Unlock()
		for _, e := range batch {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		if closed {
			return
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
	}
}

// rouse has all pumps look at their queues.
func (fs *followers) rouse() {
	for _, those := range fs.by {
		for f := range those {
			f.rouse()
		}
	}
}
