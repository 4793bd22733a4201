package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// kindOf says what a checkpoint is, for people.
func kindOf(cp thread.Checkpoint) string {
	switch {
	case cp.Rewound:
		return string(cp.Kind) + ", left behind"
	case cp.Interrupted:
		return string(cp.Kind) + ", interrupted"
	default:
		return string(cp.Kind)
	}
}

// aboutOf says in a table what a checkpoint is about: its prompt, and behind it what is noted of it.
func aboutOf(prompt, note string) string {
	if prompt = firstLine(prompt); prompt != "" && note != "" {
		note = "; " + note
	}
	return prompt + firstLine(note)
}

// firstLine cuts text for a table.
func firstLine(s string) string {
	const most = 60
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = plaintext.Line(s)
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func stateOf(s thread.Status) string {
	state := string(s.State.State) + s.State.More()
	if s.State.State == thread.StateExited && s.Exit.Code != 0 {
		state += fmt.Sprintf(" (%d)", s.Exit.Code)
	}
	if s.Queued > 0 {
		state += fmt.Sprintf(", %d queued", s.Queued)
	}
	if n := slices.IndexFunc(s.Prompts, func(p thread.Prompt) bool { return p.State.Again() }); n >= 0 {
		state += ", prompt " + string(s.Prompts[n].State)
	}
	if s.Outcome.Kind != thread.OutcomeNone {
		state += ", " + string(s.Outcome.Kind)
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

// costOf says what a thread has cost, and where nobody knows.
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

// age formats a time span in its largest unit; one that has yet to begin, by a clock that was set back, is none.
func age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// first cuts a list to its limit, and says so and how to see the rest where there is more.
func first[T any](c *cli, list []T, limit int, what, verb string) []T {
	if len(list) <= limit {
		return list
	}
	fmt.Fprintf(c.stderr, "orchestrator: these are %s, %d of more; `orchestrator %s` lists all\n", what, limit, verb)
	return list[:limit]
}

// mostRows is how many rows a list without a limit has.
const mostRows = 20_000

// mostTitle is how many cells of what a thread is called a table shows.
const mostTitle = 24
