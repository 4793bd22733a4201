// Package suggest notices when a conversation should be forked: a prompt that leaves its subject, a wish for another
// approach, a loop of failing attempts, a context that is nearly full.
//
// It consists of rules over words, pure and fast, without a model: phrases say what a prompt does (it criticises, gives
// up, supposes, asks, refers to what was said before), and weights add that up. It guarantees that an offer says which
// rule made it and why, with a label filled in, and it would rather miss a fork than offer a wrong one: its test tables
// allow at most 2 % false offers. It decides nothing: a person takes or dismisses an offer.
package suggest

import (
	"fmt"
	"strings"
)

// Rule is the rule by which a fork is offered.
type Rule string

// The rules, in the order in which they are tried.
const (
	RuleBand     Rule = "band"     // the context is nearly full
	RuleLoop     Rule = "loop"     // the same attempt failed again and again
	RuleApproach Rule = "approach" // the person wants another approach
	RuleSubject  Rule = "subject"  // the prompt leaves the thread's subject
)

// Input is what an offer is decided from.
type Input struct {
	Prompt   string  // the new prompt, "" if there is none
	Subject  Subject // the subject of the thread before it
	Share    float64 // of the context, in percent
	Failures int     // similar tool failures in a row
	Failure  string  // their message
}

// Offer proposes a fork.
type Offer struct {
	Rule  Rule
	Label string
	Why   string // for people, one sentence
}

// Full says why a fork is offered when so many percent of the context are used.
func Full(share float64) string {
	return fmt.Sprintf("the context is %.0f%% full: a fork continues with a summary in a new context", share)
}

// Consider returns the offer that the rules make, if any.
func Consider(in Input) (Offer, bool) {
	if in.Share >= bandShare {
		return Offer{RuleBand, label(in.Prompt, "continue fresh"), Full(in.Share)}, true
	}
	if in.Failures >= sameFailures {
		return Offer{RuleLoop, "another way",
			fmt.Sprintf("the same attempt failed %d times: %s", in.Failures, short(in.Failure))}, true
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
			fmt.Sprintf("%q starts another approach: a fork keeps this one", short(in.Prompt[said.from:said.to]))}, true
	}
	if why := in.Subject.left(in.Prompt, list, at); why != "" {
		return Offer{RuleSubject, label(in.Prompt, "another subject"), why}, true
	}
	return Offer{}, false
}

// command reports whether a prompt is an agent's own command or a shell line.
func command(prompt string) bool {
	p := strings.TrimSpace(prompt)
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "!") || strings.HasPrefix(p, "#")
}

// besides returns the text of a prompt after some words of it, or before them if nothing follows.
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
