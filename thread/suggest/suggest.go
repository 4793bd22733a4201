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
	"unicode"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/ground/lexical"
	"orchestrator/thread/plaintext"
)

// Rule is the rule by which a fork is offered.
type Rule string

// The rules, in the order in which they are tried.
const (
	RuleBand     Rule = thread.OfferFull // the context is nearly full
	RuleLoop     Rule = "loop"           // the same attempt failed again and again
	RuleApproach Rule = "approach"       // the person wants another approach
	RuleSubject  Rule = "subject"        // the prompt leaves the thread's subject
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

// Full returns why a fork is offered when so many percent of the context are used.
func Full(share float64) string {
	return fmt.Sprintf("the context is %.0f%% full: continue in a fresh fork with a summary", share)
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

// label makes a fork's label from the first clause of a text that says something: its words as they were written, without
// those before it that say nothing, and as many as a list has room for.
func label(text, otherwise string) string {
	for _, clause := range clauses(text) {
		list := strings.Fields(unquoted.Replace(clause))
		for len(list) > 0 && empty(list[0]) {
			list = list[1:]
		}
		if len(list) == 0 {
			continue
		}
		n, length := 1, len(list[0])
		for n < len(list) && length+1+len(list[n]) <= maxLabel {
			length += 1 + len(list[n])
			n++
		}
		for cut := n < len(list); cut && n > 1 && empty(list[n-1]); {
			n--
		}
		return plaintext.Cut(plaintext.Line(strings.Join(list[:n], " ")), maxLabel)
	}
	return otherwise
}

var unquoted = strings.NewReplacer("\"", "", "`", "", "*", "", "“", "", "”", "", "«", "", "»", "")

// clauses cuts a text where a sentence or a part of one ends.
func clauses(text string) []string {
	text = strings.ToValidUTF8(text, " ")
	var out []string
	from := 0
	for i, r := range text {
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		ends := strings.ContainsRune("\n;!?…。！？", r) || strings.ContainsRune(".,:—–", r) && (next == utf8.RuneError || unicode.IsSpace(next))
		if ends {
			out = append(out, text[from:i])
			from = i + utf8.RuneLen(r)
		}
	}
	return append(out, text[from:])
}

// leads are words before what is wanted.
var leads = set("leads")

// empty reports whether a word says nothing of what is wanted.
func empty(word string) bool {
	for _, w := range tokens(word) {
		if !lexical.Stop(w) && !fillers()[w] && !leads()[w] {
			return false
		}
	}
	return true
}
