package work

import (
	"cmp"
	"fmt"
	"strings"

	"orchestrator/thread"
)

// The caps of a run if neither its thread nor the configuration has others.
const (
	routineCalls  = 20
	lookCalls     = 10 // of a run that changes nothing
	fastWords     = 100
	standardWords = 500
	exploreWords  = 200 // in every tier
	// Uncapped is the number for no bound.
	Uncapped = -1
)

// mostCapped is the largest number of calls or words that is taken for one.
const mostCapped = 1_000_000

// CheckCaps refuses caps that mean nothing, with thread.ErrInvalid.
func CheckCaps(c thread.Caps) error {
	switch {
	case c.Calls < Uncapped || c.Calls > mostCapped:
		return thread.Kindf(thread.ErrInvalid, "%d calls: take a number from 1 to %d, or none for no bound", c.Calls, mostCapped)
	case c.Words < Uncapped || c.Words > mostCapped:
		return thread.Kindf(thread.ErrInvalid, "%d words: take a number from 1 to %d, or none for no bound", c.Words, mostCapped)
	case c.Explore && c.Words != 0:
		return thread.Kindf(thread.ErrInvalid, "a run that explores reports in under %d words: it takes no other number", exploreWords)
	}
	return nil
}

// Capped returns the caps of a thread's runs: the thread's own, then those that are configured, else what its kind and its
// tier say.
func Capped(o thread.Once, configured thread.Caps) thread.Caps {
	calls, words := routineCalls, Uncapped
	if o.ReadOnly || o.Caps.Explore {
		calls = lookCalls
	}
	switch o.Tier {
	case thread.TierFast:
		words = fastWords
	case thread.TierStandard, "":
		words = standardWords
	case thread.TierStrong, thread.TierFrontier:
	}
	c := thread.Caps{
		Explore: o.Caps.Explore, Calls: cmp.Or(o.Caps.Calls, configured.Calls, calls), Words: cmp.Or(o.Caps.Words, configured.Words, words),
	}
	if c.Explore {
		c.Words = exploreWords
	}
	return c
}

// ToldTag is the element in which an agent is told its caps, after the prompt: what a person wrote is told apart by it.
const ToldTag = "run-limits"

// Told returns what the prompt of an execution names besides the person's words, "" if nothing is bounded. Code counts in
// the words of no answer.
func Told(x Execution) string {
	if x.Reporting || x.Caps.Calls <= 0 && x.Caps.Words <= 0 {
		return ""
	}
	var lines []string
	switch c := x.Caps; {
	case c.Explore:
		lines = append(lines, fmt.Sprintf("Change nothing, and report in under %d words.", exploreWords))
	case c.Words > 0:
		lines = append(lines, fmt.Sprintf("Report in at most %d words; code does not count.", c.Words))
	default:
		lines = append(lines, "Your report may be as long as it needs to be.")
	}
	once := "Read each needed file once, then edit."
	if x.ReadOnly || x.Caps.Explore {
		once = "Read each needed file once."
	}
	if left := x.Caps.Calls - x.Calls; x.Caps.Calls > 0 {
		lines = append(lines, fmt.Sprintf("You have %s, those of sub-agents included. %s", toolCalls(left), once),
			"When the calls run out, report progress and the named gap.")
	} else {
		lines = append(lines, once)
	}
	lines = append(lines, "Make one diagnostic read after a failure; after two failed attempts stop, re-read from scratch and try another approach.")
	return "<" + ToldTag + ">\n" + strings.Join(lines, "\n") + "\n</" + ToldTag + ">"
}

// Apart returns the words of a prompt that an agent was given, and on one line what it was told besides, "" for nothing.
func Apart(prompt string) (words, told string) {
	at := strings.LastIndex(prompt, "\n\n<"+ToldTag+">\n")
	if at < 0 {
		return prompt, ""
	}
	told, whole := strings.CutSuffix(strings.TrimSpace(prompt[at:]), "</"+ToldTag+">")
	if !whole {
		return prompt, ""
	}
	return prompt[:at], strings.Join(strings.Fields(strings.TrimPrefix(told, "<"+ToldTag+">")), " ")
}

func toolCalls(n int) string {
	if n == 1 {
		return "1 tool call"
	}
	return fmt.Sprintf("%d tool calls", n)
}

// Exhausted reports whether an execution has made all the calls that it may.
func (x Execution) Exhausted() bool { return x.Caps.Calls > 0 && x.Calls >= x.Caps.Calls }

// MoreCalls lets an execution whose calls are used up make some more, as a person decides; 0 or less for no bound.
func (x *Execution) MoreCalls(n int) {
	x.Reporting, x.Gap = false, ""
	if x.Caps.Calls = Uncapped; n > 0 {
		x.Caps.Calls = x.Calls + n
	}
}
