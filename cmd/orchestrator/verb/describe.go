package verb

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// kindOf describes the kind of a checkpoint.
func kindOf(cp thread.Checkpoint) string {
	switch {
	case cp.Rewound:
		return string(cp.Kind) + ", rewound"
	case cp.Interrupted:
		return string(cp.Kind) + ", interrupted"
	default:
		return string(cp.Kind)
	}
}

// aboutOf describes a checkpoint in a table: its prompt, followed by its note.
func aboutOf(prompt, note string) string {
	if prompt = firstLine(prompt); prompt != "" && note != "" {
		note = "; " + note
	}
	return prompt + firstLine(note)
}

// firstLine shortens text for a table.
func firstLine(s string) string {
	const most = 60
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return plaintext.Short(plaintext.Line(s), most)
}

// stateOf describes a thread: by its outcome if it has one, as on the screen, and otherwise by its state.
func stateOf(s thread.Status) string {
	state := string(s.Outcome.Kind)
	if s.Outcome.Kind == thread.OutcomeNone {
		state = string(s.State.State) + s.State.More()
		if s.State.State == thread.StateExited && s.Exit.Code != 0 {
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

func contextOf(g thread.Gauge) string {
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

// costOf returns what a thread has cost, or "no price" if that is unknown.
func costOf(s thread.Status) string {
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

// first cuts a list to its limit, and says how to see the rest if there is more.
func first[T any](c *cli, list []T, limit int, what, verb string) []T {
	if len(list) <= limit {
		return list
	}
	fmt.Fprintf(c.out.stderr, "orchestrator: showing the %d %s; `orchestrator %s` lists all\n", limit, what, verb)
	return list[:limit]
}

// mostRows is the default limit of lists.
const mostRows = 20_000

// mostTitle is how many cells of a label a table shows.
const mostTitle = 24
