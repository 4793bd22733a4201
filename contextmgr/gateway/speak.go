package gateway

import (
	"sync"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// maxUnsaid bounds what one answer has said that the observer was not told yet, in bytes.
const maxUnsaid = 256 << 10

// speech carries what an answer says from its stream to the queue that tells the observer. What comes while a piece
// waits there joins it, so that a slow observer holds up nothing and costs little.
type speech struct {
	rt      *route
	speaker wire.TextStreamer // nil where the answer tells nothing before its end
	number  int64             // of the request; the queue's
	any     bool              // something was told; the queue's

	mu      sync.Mutex // held before queue.mu; guards what follows
	text    []byte
	missed  bool // text is not all
	open    bool // pieces may be told: the request was read, and is the thread's own
	closed  bool // nobody is to be told
	waiting bool // a piece is in the queue
}

// listen begins to take what an answer says.
func (s *speech) listen(a wire.Answer) { s.speaker, _ = a.(wire.TextStreamer) }

// take adds what the answer said with its last bytes.
func (s *speech) take() {
	if s.speaker == nil {
		return
	}
	text := s.speaker.NewText()
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return
	case s.missed || len(s.text)+len(text) > maxUnsaid:
		s.missed = true
	default:
		s.text = append(s.text, text...)
	}
	s.offer()
}

// offer queues a piece, unless one waits there. The caller holds mu.
func (s *speech) offer() {
	if s.open && !s.waiting {
		s.waiting = true
		s.rt.queue.add(func() { s.tell(s.next()) })
	}
}

// begin is the queue's: the request was read.
func (s *speech) begin(main bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.closed = main, !main
	if !main {
		s.text = nil
		return
	}
	s.rt.spoken++
	s.number = s.rt.spoken
	if len(s.text) > 0 || s.missed {
		s.offer()
	}
}

// next returns the piece to tell.
func (s *speech) next() thread.Speech {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := thread.Speech{Request: s.number, Text: string(s.text), Missed: s.missed}
	s.text, s.waiting = s.text[:0], false
	s.closed = s.closed || s.missed // the end brings it all
	return out
}

func (s *speech) tell(p thread.Speech) {
	if p.Text != "" || p.Missed || p.Done {
		s.any = s.any || p.Text != "" || p.Missed
		s.rt.observer.Spoke(s.rt.id, p)
	}
}

// end is the queue's: the exchange is over, and what it said that nobody was told yet is told.
func (s *speech) end(e thread.Exchange) {
	if !e.Main {
		return
	}
	last := s.next()
	last.Done, last.Cut = true, e.Interrupted
	if !s.any && last.Text == "" {
		last.Text, last.Missed = e.Text, false
	}
	s.tell(last)
}
