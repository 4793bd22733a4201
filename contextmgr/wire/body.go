package wire

import (
	"fmt"
	"strings"

	"orchestrator/contextmgr/wire/sse"
)

// MaxAnswer is the most of an answer that is held, in bytes. What comes after it is carried but
// not read.
const MaxAnswer = 32 << 20

// TooLong reports that an answer was larger than MaxAnswer.
func TooLong() string {
	return fmt.Sprintf("the answer was too long to be read whole: more than %d MB", MaxAnswer>>20)
}

// Streamed reports whether a content type is that of server-sent events.
func Streamed(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "text/event-stream")
}

// Failed returns a reader for an answer that is an error or a redirect.
func Failed() Answer { return &failed{} }

// failed collects an error's body.
type failed struct{ Whole }

// Result implements Answer.
func (f *failed) Result() Result {
	text := ErrorText(f.Bytes())
	if text == "" {
		text = Clip(strings.TrimSpace(string(f.Bytes())), maxError)
	}
	return Result{Err: text, Complete: true}
}

// Whole collects a body that is no stream.
type Whole struct {
	body []byte
	over bool
}

// Write takes the next bytes.
func (w *Whole) Write(b []byte) {
	if len(w.body)+len(b) > MaxAnswer {
		w.over = true
		return
	}
	w.body = append(w.body, b...)
}

// Bytes returns what was collected.
func (w *Whole) Bytes() []byte { return w.body }

// Over reports whether the body was too long to be held.
func (w *Whole) Over() bool { return w.over }

// Events feeds a stream's events to a function and keeps the whole below MaxAnswer.
type Events struct {
	parser sse.Parser
	size   int
	over   bool
}

// NewEvents returns a reader of events.
func NewEvents(event func(name string, data []byte)) *Events {
	e := &Events{}
	e.parser.Event = func(name string, data []byte) {
		if e.size += len(data); e.size > MaxAnswer {
			e.over = true
			if len(data) > 4096 {
				return // the small ones still tell usage and the end
			}
		}
		event(name, data)
	}
	return e
}

// Write takes the next bytes.
func (e *Events) Write(b []byte) { e.parser.Write(b) }

// Close ends the stream.
func (e *Events) Close() { e.parser.Close() }

// Over reports whether events were left out because there was too much.
func (e *Events) Over() bool { return e.over || e.parser.Dropped() > 0 }
