package scripted

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// stream sends the events of an answer while the client is connected.
type stream struct {
	w      http.ResponseWriter
	ctx    context.Context // of the request
	pace   time.Duration   // between two pieces of a text
	middle func()          // called in the middle of the answer
	gone   bool            // the client has disconnected, or wants no stream
}

// send sends a server-sent event; name may be empty.
func (s *stream) send(name string, v any) {
	if s.gone {
		return
	}
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	fmt.Fprintf(&b, "data: %s\n\n", encode(v))
	s.write(b.Bytes())
}

func (s *stream) write(event []byte) {
	if s.gone {
		return
	}
	_, err := s.w.Write(event)
	s.gone = err != nil || http.NewResponseController(s.w).Flush() != nil || s.ctx.Err() != nil
}

// pieces sends the pieces of a text at the stream's pace. The middle of the answer is before the piece with that index,
// or after them all if middle is their number; it is elsewhere if middle is negative.
func (s *stream) pieces(all []string, middle int, send func(piece string)) {
	for i, p := range all {
		if i == middle {
			s.halfway()
		}
		if s.gone {
			return
		}
		send(p)
		s.pause()
	}
	if middle == len(all) {
		s.halfway()
	}
}

// halfway is called in the middle of the answer.
func (s *stream) halfway() {
	if !s.gone {
		s.middle()
	}
}

// pause waits between two pieces.
func (s *stream) pause() {
	if s.pace <= 0 {
		return
	}
	t := time.NewTimer(s.pace)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
		s.gone = true
	}
}
