package page

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Kind describes the kind of a checkpoint.
func Kind(cp thread.Checkpoint) string {
	switch {
	case cp.Rewound:
		return string(cp.Kind) + ", rewound"
	case cp.Interrupted:
		return string(cp.Kind) + ", interrupted"
	default:
		return string(cp.Kind)
	}
}

// About describes a checkpoint in a table: its prompt, followed by its note.
func About(prompt, note string) string {
	if prompt = FirstLine(prompt); prompt != "" && note != "" {
		note = "; " + note
	}
	return prompt + FirstLine(note)
}

// FirstLine shortens text for a table.
func FirstLine(s string) string {
	const most = 60
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return plaintext.Short(plaintext.Line(s), most)
}

// State describes a thread: by its outcome if it has one, as on the screen, and otherwise by its state.
func State(s thread.Status) string {
	state := string(s.Outcome.Kind)
	if s.Outcome.Kind == thread.OutcomeNone {
		state = string(s.State.State) + s.State.More()
		if s.Runs() {
			state = s.Run.Word()
		}
		if s.State.State == thread.StateExited && s.Exit.Code != 0 && !s.Runs() {
			state += fmt.Sprintf(" (%d)", s.Exit.Code)
		}
		if p, ok := s.Unanswered(); ok {
			state += ", prompt " + string(p.State)
		}
	}
	if s.Queued > 0 {
		state += fmt.Sprintf(", %d queued", s.Queued)
	}
	if s.Around {
		state += ", not through the gateway"
	}
	if s.SetupProblem() != "" {
		state += ", setup " + string(s.Setup.State)
	}
	if !s.Archived.IsZero() {
		state += ", archived"
	}
	return state
}

// Gauge returns how full a context is.
func Gauge(g thread.Gauge) string {
	if g.Tokens == 0 {
		return "-"
	}
	mark := ""
	if g.Estimated {
		mark = "~"
	}
	if g.Window == 0 {
		return mark + thread.Tokens(g.Tokens)
	}
	return fmt.Sprintf("%s%s/%s %s", mark, thread.Tokens(g.Tokens), thread.Tokens(g.Window), thread.Percent(g.Share()))
}

// Cost returns what a thread has cost, or "no price" if that is unknown.
func Cost(s thread.Status) string {
	usd, known := s.Cost()
	switch {
	case known:
		return fmt.Sprintf("$%.2f", usd)
	case s.Usage.Context() == 0:
		return "-"
	default:
		return "no price"
	}
}

// mostTitle is how many cells of a label a table shows.
const mostTitle = 24
