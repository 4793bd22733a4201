// Package suggest notices when a conversation had better be forked: a prompt that leaves its
// subject, a wish for another approach, a loop of failing attempts, a context that is nearly full.
//
// It is rules over words, pure and quick, with no model behind it: phrases say what a prompt does (it
// judges, gives up, supposes, asks, leans on what was said), and weights add that up. It guarantees
// that an offer says which rule made it and why, with a label filled in, and it would rather miss a
// fork than offer a wrong one: the tables beside it allow at most 2 % false offers. It decides
// nothing: a person takes or dismisses an offer.
package suggest

import (
	"fmt"
	"strings"
)

// Rule says why a fork is offered.
type Rule string

// The rules, in the order in which they are asked.
const (
	RuleBand     Rule = "band"     // the context is nearly full
	RuleLoop     Rule = "loop"     // the same attempt failed again and again
	RuleApproach Rule = "approach" // the person wants to try another way
	RuleSubject  Rule = "subject"  // the prompt leaves the thread's subject
)

// Input is what an offer is considered from.
type Input struct {
	Prompt   string  // the new prompt, empty when none was given
	Subject  Subject // what the thread was about before it
	Share    float64 // of the context, in percent
	Failures int     // tool results that failed alike, in a row
	Failure  string  // what they said
}

// Offer proposes a fork.
type Offer struct {
	Rule  Rule
	Label string
	Why   string // for people, one sentence
}

// Consider returns the offer that the rules make, if any.
func Consider(in Input) (Offer, bool) {
	if in.Share >= bandShare {
		return Offer{RuleBand, label(in.Prompt, "continue fresh"),
			fmt.Sprintf("the context is %.0f %% full: a fork goes on with a summary and an empty one", in.Share)}, true
	}
	if in.Failures >= sameFailures {
		return Offer{RuleLoop, "another way", fmt.Sprintf("the same attempt failed %d times: %s", in.Failures, short(in.Failure))}, true
	}
	if in.Prompt == "" || command(in.Prompt) {
		return Offer{}, false
	}
	list := words(in.Prompt)
	at := vocabulary().find(list)
	if n := in.Subject.complaints; at[fails].said && n+1 >= complaints {
		return Offer{RuleLoop, "another way", fmt.Sprintf("you said %d times in a row that it still fails", n+1)}, true
	}
	if said, ok := wants(list); ok && in.Subject.turns > 0 {
		return Offer{RuleApproach, label(besides(in.Prompt, said), "another approach"),
			fmt.Sprintf("%q begins another approach: a fork keeps this one", short(in.Prompt[said.from:said.to]))}, true
	}
	if why := in.Subject.left(in.Prompt, list, at); why != "" {
		return Offer{RuleSubject, label(in.Prompt, "another subject"), why}, true
	}
	return Offer{}, false
}

// command reports whether a prompt is one of an agent's own commands or a shell line.
func command(prompt string) bool {
	p := strings.TrimSpace(prompt)
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "!") || strings.HasPrefix(p, "#")
}

// besides returns what a prompt says after words of it, or before them if that is all.
func besides(prompt string, said found) string {
	if after := prompt[said.to:]; strings.TrimSpace(after) != "" {
		return after
	}
	return prompt[:said.from]
}

// label makes a fork's label from the first content words of a text.
func label(text, otherwise string) string {
	var out []string
	for _, w := range tokens(text) {
		if stopWords()[w] || fillers()[w] {
			continue
		}
		out = append(out, w)
		if len(out) == maxLabelWords {
			break
		}
	}
	if len(out) == 0 {
		return otherwise
	}
	return strings.Join(out, " ")
}
