package policy

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
