package runs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// The bounds of what is kept of one attempt.
const (
	// maxEvents is how many events are kept; what follows is only shown to those who watch, and counted.
	maxEvents = 5000
	// maxText is the most bytes of a message that are held until it ends: more than an excerpt, as secrets are looked for
	// before it is cut.
	maxText = 8 * thread.MaxExcerpt
	// maxAnswer is the most bytes of a message of the agent itself that are held: it may be staged.
	maxAnswer = 1 << 20
)

// Record takes what an agent reports and makes of it what is kept: a line for each message, tool and notice. The zero
// value is an empty one.
type Record struct {
	Attempt int
	// Calls are those of tools.
	Calls Calls

	pending []work.Event // not taken yet
	kept    int
	left    int // events that were not kept
	text    piece
	answer  string
	whole   string // the answer, as it was written
	usage   thread.Usage
	refused Refused
	end     *thread.RunEvent
	worked  bool
}

// Refused is what a run would have asked a person.
type Refused struct {
	Calls int
	First string // what the first one was, and why it was refused
}

// sentence says what was refused, "" if nothing was.
func (r Refused) sentence() string {
	switch r.Calls {
	case 0:
		return ""
	case 1:
		return "a call was refused: " + r.First
	default:
		return fmt.Sprintf("%d calls were refused; the first: %s", r.Calls, r.First)
	}
}

// piece is a message that streams in.
type piece struct {
	kind thread.RunEventKind
	text strings.Builder
	at   thread.RunEvent // its first piece
}

// Add takes an event, in order.
func (r *Record) Add(e thread.RunEvent) {
	r.Calls.Add(e)
	r.worked = r.worked || e.Kind == thread.RunTool || e.Kind == thread.RunText && strings.TrimSpace(e.Text) != ""
	switch e.Kind {
	case thread.RunText, thread.RunThinking:
		if r.text.kind != e.Kind || r.text.at.Sub != e.Sub {
			r.endText()
			r.text.kind, r.text.at = e.Kind, e
		}
		most := maxText
		if e.Kind == thread.RunText && e.Sub == "" {
			most = maxAnswer
		}
		r.text.text.WriteString(e.Text[:max(0, min(len(e.Text), most-r.text.text.Len()))])
		return
	case thread.RunUsage:
		if e.Usage != nil && e.Usage.Sane() {
			r.usage = r.usage.Add(*e.Usage)
		}
		return
	case thread.RunEnd:
		r.endText()
		r.end = &e
		r.keep(e, cmp.Or(e.Reason, string(e.Outcome)))
		return
	default:
	}
	r.endText()
	switch e.Kind {
	case thread.RunTool:
		r.keep(e, strings.TrimSpace(e.Tool+" "+e.Text))
	case thread.RunResult:
		text := e.Text
		if e.Failed {
			text = "failed: " + text
		}
		r.keep(e, text)
	case thread.RunRefused:
		if r.refused.Calls++; r.refused.Calls == 1 {
			r.refused.First = thread.Excerpt(e.Text[:min(len(e.Text), maxText)])
		}
		r.keep(e, e.Text)
	case thread.RunAsks:
		if e.Question != nil {
			r.keep(e, e.Question.Words())
		}
	case thread.RunAnswered:
		if e.Question != nil {
			r.keep(e, e.Question.Line()+": "+e.Text)
		}
	case thread.RunSession:
		r.keep(e, strings.TrimSpace(e.Session+" "+e.Model))
	default:
		r.keep(e, e.Text)
	}
}

// Note adds a remark of ours, however much else was kept.
func (r *Record) Note(text string, at time.Time) {
	r.endText()
	r.pending = append(r.pending, work.Event{At: at, Attempt: r.Attempt, Kind: "note", Text: thread.Excerpt(text)})
}

// endText keeps the message that streams in, if there is one.
func (r *Record) endText() {
	if r.text.kind == "" {
		return
	}
	text := r.text.text.String()
	if r.text.kind == thread.RunText && r.text.at.Sub == "" && strings.TrimSpace(text) != "" {
		r.whole = strings.TrimSpace(text)
		r.answer = thread.Excerpt(r.whole[:min(len(r.whole), maxText)])
	}
	r.keep(r.text.at, text)
	r.text = piece{}
}

func (r *Record) keep(e thread.RunEvent, text string) {
	if r.kept >= maxEvents && e.Kind != thread.RunEnd {
		r.left++
		return
	}
	r.kept++
	r.pending = append(r.pending, work.Event{
		At: e.At, Attempt: r.Attempt, Kind: string(e.Kind), Text: thread.Shown(text[:min(len(text), maxText)]),
	})
}

// Take returns what was kept since the last call.
func (r *Record) Take() []work.Event {
	out := r.pending
	r.pending = nil
	return out
}

// Close returns the rest: also the message that has not ended, and how much was not kept.
func (r *Record) Close() []work.Event {
	r.endText()
	if r.left > 0 {
		r.pending = append(r.pending, work.Event{
			Attempt: r.Attempt, Kind: "note", Text: fmt.Sprintf("%d more events were not kept: its log has them", r.left),
		})
		r.left = 0
	}
	return r.Take()
}

// Restore puts back what could not be stored.
func (r *Record) Restore(events []work.Event) { r.pending = append(events, r.pending...) }

// Answer is an excerpt of the last message of the agent itself.
func (r *Record) Answer() string { return r.answer }

// Whole is that message as it was written, with secrets, up to a megabyte of it.
func (r *Record) Whole() string { return r.whole }

// Usage is what the agent reported that it used.
func (r *Record) Usage() thread.Usage { return r.usage }

// Differs says for people if what the agent reported that it used is not what the gateway counted of this attempt; "" if it
// is, or if the agent came to no end of its own: then it has not told all.
func (r *Record) Differs(before, after, beside thread.Usage) string {
	if r.end == nil || r.end.Gone || r.end.Outcome == thread.RunCancelled {
		return ""
	}
	return Differs(Used(before, after, thread.Usage{}, thread.Usage{}), beside, r.usage)
}

// Refused is what the agent would have asked a person.
func (r *Record) Refused() Refused { return r.refused }

// Finished reports whether the events of an attempt say that its agent had completed the work.
func Finished(events []work.Event, attempt int) bool {
	for _, e := range events {
		if e.Attempt == attempt && e.Kind == string(thread.RunEnd) {
			return e.Text == string(thread.RunCompleted)
		}
	}
	return false
}

// Answer returns the last message among the events of an attempt, "" if there is none.
func Answer(events []work.Event, attempt int) (text string) {
	for _, e := range events {
		if e.Attempt == attempt && e.Kind == string(thread.RunText) {
			text = e.Text
		}
	}
	return text
}

// Worked reports whether the agent has called a tool or said something: its session has the prompt then.
func (r *Record) Worked() bool { return r.worked }

// End is the RunEnd, nil before it.
func (r *Record) End() *thread.RunEvent { return r.end }
