package agent

import (
	"regexp"
	"strings"

	"orchestrator/thread"
)

// InTitle as Rule.Lines makes a rule look at the terminal's title instead of its screen.
const InTitle = -1

// Rule reads a state off an agent's screen. Rules are evidence of the lowest rank: they say what is
// seen now, and stop counting once they match no more.
type Rule struct {
	// State is what a match speaks for.
	State thread.State
	// Pattern is searched in the lines joined by newlines; (?m) makes ^ and $ mean one line.
	Pattern *regexp.Regexp
	// Lines is how many of the last lines that hold something are searched; 0 is the whole live
	// screen, InTitle the title.
	Lines int
	// Detail is for people: "approval dialog".
	Detail string
	// Prompt is set where a match means that the agent takes a prompt: before the first one, what is
	// typed may be lost.
	Prompt bool
}

// Ruler is an agent whose screen can be read. Optional for a thread.Agent.
type Ruler interface {
	// Rules returns the rules in order: the first that matches decides.
	Rules() []Rule
}

// Match returns the first rule that matches the live lines of a screen, top first and without their
// trailing blanks, or its title.
func Match(rules []Rule, lines []string, title string) (Rule, bool) {
	if len(rules) == 0 {
		return Rule{}, false
	}
	var filled []string // from the first use on: lines that hold something
	for _, r := range rules {
		if r.Lines == InTitle {
			if title != "" && r.Pattern.MatchString(title) {
				return r, true
			}
			continue
		}
		if filled == nil {
			filled = make([]string, 0, len(lines))
			for _, l := range lines {
				if strings.TrimSpace(l) != "" {
					filled = append(filled, l)
				}
			}
		}
		seen := filled
		if r.Lines > 0 && len(seen) > r.Lines {
			seen = seen[len(seen)-r.Lines:]
		}
		if r.Pattern.MatchString(strings.Join(seen, "\n")) {
			return r, true
		}
	}
	return Rule{}, false
}
