package gateway

import (
	"sync"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// maxUnreported is how many bytes of one answer's text may wait to be reported.
const maxUnreported = 256 << 10

// speech passes an answer's text from its stream to the queue, which reports it to the observer. Text that arrives
// while a piece waits there is added to that piece, so that a slow observer blocks nothing and costs little.
type speech struct {
	rt       *route
	streamer wire.TextStreamer // nil if the answer has no text before its end
	number   int64             // the request's; the queue's
	said     string            // of the person, not reported yet; the queue's
	any      bool              // something was reported; the queue's

	mu      sync.Mutex // taken before queue.mu; guards the rest
	text    []byte
	missed  bool // text is incomplete
	open    bool // pieces may be reported: the request was read and is a main one
	closed  bool // nothing more is reported
	waiting bool // a piece is in the queue
}

// listen begins to read an answer's text.
func (s *speech) listen(a wire.Answer) { s.streamer, _ = a.(wire.TextStreamer) }

// take adds the text in the answer's last bytes.
func (s *speech) take() {
	if s.streamer == nil {
		return
	}
	text := s.streamer.NewText()
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return
	case s.missed || len(s.text)+len(text) > maxUnreported:
		s.missed = true
	default:
		s.text = append(s.text, text...)
	}
	s.offer()
}

// offer queues a piece, unless one waits. The caller holds mu.
func (s *speech) offer() {
	if s.open && !s.waiting {
		s.waiting = true
		s.rt.queue.add(func() { s.tell(s.next()) })
	}
}

// begin is called by the queue when the request was read.
func (s *speech) begin(main bool, said string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.closed = main, !main
	if !main {
		s.text = nil
		return
	}
	s.rt.spoken++
	s.number, s.said = s.rt.spoken, said
	if len(s.text) > 0 || s.missed {
		s.offer()
	}
}

// next returns the piece to report.
func (s *speech) next() thread.Speech {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := thread.Speech{Request: s.number, Text: string(s.text), Missed: s.missed}
	s.text, s.waiting = s.text[:0], false
	s.closed = s.closed || s.missed // the end of the answer contains everything
	return out
}

func (s *speech) tell(p thread.Speech) {
	if p.Text != "" || p.Missed || p.Done {
		s.any = s.any || p.Text != "" || p.Missed
		p.Said, s.said = s.said, ""
		s.rt.observer.Spoke(s.rt.id, p)
	}
}

// end is called by the queue when the exchange is over; it reports the text that is left.
func (s *speech) end(e thread.Exchange) {
	if !e.Main {
		return
	}
	last := s.next()
	last.Done, last.Cut, last.Ends = true, e.Interrupted, e.EndsTurn
	if !s.any && last.Text == "" {
		last.Text, last.Missed = e.Text, false
	}
	s.tell(last)
}
