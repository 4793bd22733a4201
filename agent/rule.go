package agent

import (
	"regexp"
	"strings"

	"orchestrator/thread"
)

// InTitle as Rule.Lines matches the terminal's title instead of its screen.
const InTitle = -1

// Rule derives a state from an agent's screen. Rules are evidence of the lowest rank: they describe what is shown now,
// and no longer count when they no longer match.
type Rule struct {
	// State is the state that a match indicates.
	State thread.State
	// Pattern is searched in the lines, joined by newlines; with (?m), ^ and $ match at each line.
	Pattern *regexp.Regexp
	// Lines is how many of the last non-empty lines are searched; 0 is the whole live screen, InTitle the title.
	Lines int
	// Detail is shown to people: "approval dialog".
	Detail string
	// Prompt is set if a match means that the agent accepts prompts: text typed before the first such match may be lost.
	Prompt bool
}

// RuleSource is an agent whose screen can be read. Optional for a thread.Agent.
type RuleSource interface {
	// Rules returns the rules in order: the first match decides.
	Rules() []Rule
}

// Match returns the first rule that matches the live lines of a screen, from the top and without trailing white space,
// or its title.
func Match(rules []Rule, lines []string, title string) (Rule, bool) {
	if len(rules) == 0 {
		return Rule{}, false
	}
	var nonEmpty []string // non-empty lines, computed on first use
	for _, r := range rules {
		if r.Lines == InTitle {
			if title != "" && r.Pattern.MatchString(title) {
				return r, true
			}
			continue
		}
		if nonEmpty == nil {
			nonEmpty = make([]string, 0, len(lines))
			for _, l := range lines {
				if strings.TrimSpace(l) != "" {
					nonEmpty = append(nonEmpty, l)
				}
			}
		}
		seen := nonEmpty
		if r.Lines > 0 && len(seen) > r.Lines {
			seen = seen[len(seen)-r.Lines:]
		}
		if r.Pattern.MatchString(strings.Join(seen, "\n")) {
			return r, true
		}
	}
	return Rule{}, false
}
