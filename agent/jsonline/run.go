package jsonline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"orchestrator/thread"
)

// Run collects what a Dialogue says. Its zero value is that of a run that has not ended.
type Run struct {
	said    thread.Said
	session string
	ended   bool
	// interrupted is set if it was asked to end.
	interrupted bool
	asks        asks
}

// Read takes a line: JSON that take knows, or else a line that is not one of the protocol.
func Read[Event any](r *Run, line []byte, take func(Event) (known bool)) thread.Said {
	var e Event
	if json.Unmarshal(line, &e) != nil || !take(e) {
		r.Line(line)
	}
	return r.Take()
}

// Prompt is the Begin of a Dialogue with a program of which the prompt is the whole input.
func (r *Run) Prompt(text string) thread.Said {
	r.said.Write = append(r.said.Write, text...)
	r.Close()
	return r.Take()
}

// Signal is the Interrupt of a Dialogue with a program that only a signal interrupts.
func (r *Run) Signal() thread.Said {
	r.Interrupt()
	return r.Take()
}

// Add says an event, with its texts cut. After the end nothing is said.
func (r *Run) Add(e thread.RunEvent) {
	if r.ended {
		return
	}
	e.Text, e.Reason = Cut(e.Text), cut(e.Reason, maxInput)
	for _, name := range []*string{&e.Tool, &e.Call, &e.Sub, &e.Session, &e.Model} {
		*name = cut(*name, maxName)
	}
	r.said.Events = append(r.said.Events, e)
}

// Session says the agent's session, unless it has been said.
func (r *Run) Session(id, model string) {
	if id == "" || id == r.session || r.ended {
		return
	}
	r.session = id
	r.Add(thread.RunEvent{Kind: thread.RunSession, Session: id, Model: model})
}

// Usage says the usage of a request, unless it is none.
func (r *Run) Usage(u thread.Usage, model, sub string) {
	if u != (thread.Usage{}) {
		r.Add(thread.RunEvent{Kind: thread.RunUsage, Usage: &u, Model: model, Sub: sub})
	}
}

// Notice says something for people.
func (r *Run) Notice(format string, args ...any) {
	r.Add(thread.RunEvent{Kind: thread.RunNotice, Text: fmt.Sprintf(format, args...)})
}

// Line says a line that is not one of the protocol; an empty one says nothing.
func (r *Run) Line(line []byte) {
	if len(line) > 0 {
		r.Add(thread.RunEvent{Kind: thread.RunLine, Text: string(line[:min(len(line), MaxText+1)])})
	}
}

// Ask says that the process asks a question about a call, and waits. Its id is that of the program, unique in the run; one
// that is open is of a question that has changed. False: it is not asked, since it has no id or too many are open; the
// caller refuses it then.
func (r *Run) Ask(call string, q thread.Question) bool {
	if r.ended {
		return false
	}
	q, ok := r.asks.add(q)
	if ok {
		r.Add(thread.RunEvent{Kind: thread.RunAsks, Call: call, Question: &q})
	}
	return ok
}

// Answer says that a question is answered, by one of its choices or thread.Dismiss, and with what the person says to it,
// if anything. The question is not open any more.
func (r *Run) Answer(id string, choice int, text string) error {
	q, said, err := r.asks.answer(id, choice, text)
	if err == nil {
		r.Add(thread.RunEvent{Kind: thread.RunAnswered, Text: said, Question: &q})
	}
	return err
}

// Withdraw says why a question is not open any more that nobody has answered. False: it is none that is open.
func (r *Run) Withdraw(id, why string) bool {
	q, ok := r.asks.take(id)
	if ok {
		r.Add(thread.RunEvent{Kind: thread.RunAnswered, Failed: true, Text: why, Question: &q})
	}
	return ok
}

// Open returns the questions that wait, the oldest first.
func (r *Run) Open() []thread.Question { return slices.Clone(r.asks) }

// Write has a message written to the process as a line.
func (r *Run) Write(v any) { r.said.Write = append(r.said.Write, Encode(v)...) }

// Close has the input of the process closed, after what is written.
func (r *Run) Close() { r.said.Close = true }

// Complete ends the run.
func (r *Run) Complete() { r.end(thread.RunEvent{Outcome: thread.RunCompleted}) }

// Cancel ends the run, which was interrupted.
func (r *Run) Cancel() {
	r.end(thread.RunEvent{Outcome: thread.RunCancelled, Reason: "interrupted"})
}

// Fail ends the run. The state follows from the provider's status if there is one; 0 is none.
func (r *Run) Fail(reason string, status int) {
	r.FailAs(thread.TroubleOf(status), reason, status)
}

// FailAs ends the run with a state that the program tells.
func (r *Run) FailAs(state thread.State, reason string, status int) {
	r.end(thread.RunEvent{
		Outcome: thread.RunFailed, Reason: cmp.Or(reason, "the agent did not say why"), State: state, Status: status,
	})
}

// Interrupt notes that the run was asked to end.
func (r *Run) Interrupt() { r.interrupted = true }

// Interrupted reports whether it was.
func (r *Run) Interrupted() bool { return r.interrupted }

// Gone ends a run whose process has ended and did not say how the run did: if it was not interrupted, it failed.
func (r *Run) Gone(format string, args ...any) {
	if r.interrupted {
		r.Cancel()
		return
	}
	r.Fail(fmt.Sprintf(format, args...), 0)
}

func (r *Run) end(e thread.RunEvent) {
	if e.Kind = thread.RunEnd; !r.ended {
		for len(r.asks) > 0 {
			r.Withdraw(r.asks[0].ID, "the run has ended")
		}
		r.Add(e)
		r.ended = true
	}
}

// Ended reports whether the run has ended.
func (r *Run) Ended() bool { return r.ended }

// Take returns what was said since it was last called.
func (r *Run) Take() thread.Said {
	said := r.said
	r.said = thread.Said{}
	return said
}
