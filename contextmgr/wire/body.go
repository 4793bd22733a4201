package wire

import (
	"fmt"
	"strings"

	"orchestrator/thread/ground/sse"
	"orchestrator/thread/plaintext"
)

// MaxAnswer is the limit in bytes of an answer that is held in memory. What follows is forwarded but not read.
const MaxAnswer = 32 << 20

// TooLong returns the error text for an answer larger than MaxAnswer.
func TooLong() string {
	return fmt.Sprintf("the answer is too large to be read completely: more than %d MB", MaxAnswer>>20)
}

// Streamed reports whether a content type is that of server-sent events.
func Streamed(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "text/event-stream")
}

// Failed returns a reader for an answer that is an error or a redirect.
func Failed() Answer { return &failed{} }

// failed collects the body of an error.
type failed struct{ Whole }

// Result implements Answer.
func (f *failed) Result() Result {
	text := ErrorText(f.Bytes())
	if text == "" {
		text = plaintext.Cut(strings.TrimSpace(string(f.Bytes())), maxError)
	}
	return Result{Err: text, Complete: true}
}

// Whole collects a body that is not a stream.
type Whole struct {
	body []byte
	over bool
}

// Write adds the next bytes.
func (w *Whole) Write(b []byte) {
	if len(w.body)+len(b) > MaxAnswer {
		w.over = true
		return
	}
	w.body = append(w.body, b...)
}

// Bytes returns the collected body.
func (w *Whole) Bytes() []byte { return w.body }

// Over reports whether the body was too large to be held.
func (w *Whole) Over() bool { return w.over }

// Events passes the events of a stream to a function, up to MaxAnswer in total.
type Events struct {
	parser sse.Parser
	size   int
	over   bool
}

// NewEvents returns a reader of events.
func NewEvents(event func(name string, data []byte)) *Events {
	e := &Events{}
	e.parser.Event = func(next sse.Event) {
		if next.Data == nil {
			return
		}
		if e.size += len(next.Data); e.size > MaxAnswer {
			e.over = true
			if len(next.Data) > 4096 {
				return // small events are still read, for the usage and the end
			}
		}
		event(next.Name, next.Data)
	}
	return e
}

// Write adds the next bytes.
func (e *Events) Write(b []byte) { e.parser.Write(b) }

// Close ends the stream.
func (e *Events) Close() { e.parser.Close() }

// Over reports whether events were left out because of their size.
func (e *Events) Over() bool { return e.over || e.parser.Dropped() > 0 }
