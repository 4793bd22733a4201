package policy

import (
	"path"
	"strings"
)

// Rule is a person's rule for the results and inputs of some tools. It only ever keeps more than the settings do.
type Rule struct {
	// Tool is the name of a tool, whatever its case; * stands for any text, as in "mcp__github__*".
	Tool string
	// Keep says that they are never masked.
	Keep bool
	// MinTokens is the size in tokens below which they are never masked.
	MinTokens int64
	// KeepLast is how many of the newest results of the rule's tools are not masked until the window is almost full.
	KeepLast int
}

// Valid reports whether the name of a rule's tool can be matched.
func (r Rule) Valid() bool {
	_, err := path.Match(r.Tool, "")
	return err == nil && strings.TrimSpace(r.Tool) != ""
}

// Matches reports whether a rule is for a tool.
func (r Rule) Matches(tool string) bool {
	ok, err := path.Match(strings.ToLower(r.Tool), strings.ToLower(tool))
	return ok && err == nil
}

// Kept says why a rule never lets a result be masked, "" if none does.
func (s Settings) Kept(r Result) string {
	for _, rule := range s.Rules {
		switch {
		case !rule.Matches(r.Tool):
		case rule.Keep:
			return "a rule for " + rule.Tool
		case r.Tokens < rule.MinTokens:
			return "small by a rule for " + rule.Tool
		}
	}
	return ""
}

// ruled are the results of a conversation that rules protect, by index.
type ruled struct{ always, newest []bool }

// ruled finds what the rules protect: for good, and the newest results of a rule's tools. Without rules that is nothing.
func (s Settings) ruled(c Conversation) ruled {
	if len(s.Rules) == 0 {
		return ruled{}
	}
	out := ruled{make([]bool, len(c.Results)), make([]bool, len(c.Results))}
	matching := make(map[string][]int) // tools to the indexes of their rules
	seen := make([]int, len(s.Rules))  // how many results of a rule's tools
	for i := len(c.Results) - 1; i >= 0; i-- {
		r := c.Results[i]
		rules, known := matching[r.Tool]
		if !known {
			for at, rule := range s.Rules {
				if rule.Matches(r.Tool) {
					rules = append(rules, at)
				}
			}
			matching[r.Tool] = rules
		}
		for _, at := range rules {
			rule := s.Rules[at]
			out.always[i] = out.always[i] || rule.Keep || r.Tokens < rule.MinTokens
			if r.Kind != KindInput {
				out.newest[i] = out.newest[i] || seen[at] < rule.KeepLast
				seen[at]++
			}
		}
	}
	return out
}

// protect reports whether a result is protected; late, the newest ones are not.
func (p ruled) protect(i int, late bool) bool {
	return p.always != nil && (p.always[i] || !late && p.newest[i])
}
