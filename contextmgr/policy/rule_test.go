package policy

import "testing"

// TestMatches: names of tools are matched whatever their case, and * stands for any text.
func TestMatches(t *testing.T) {
	for _, c := range []struct {
		rule, tool string
		want       bool
	}{
		{"Bash", "bash", true}, {"bash", "BashOutput", false}, {"mcp__github__*", "mcp__GitHub__get_issue", true},
		{"mcp__github__*", "mcp__gitlab__get_issue", false}, {"*", "Read", true}, {"[", "[", false}, {"*", "", true},
	} {
		if got := (Rule{Tool: c.rule}).Matches(c.tool); got != c.want {
			t.Errorf("%s for %s: %v", c.rule, c.tool, got)
		}
	}
	for name, want := range map[string]bool{"Bash": true, "mcp__*": true, "[": false, "": false, " ": false} {
		if (Rule{Tool: name}).Valid() != want {
			t.Errorf("%q is valid: %v", name, !want)
		}
	}
}

// TestKept: people are told which rule keeps a result for good.
func TestKept(t *testing.T) {
	s := Settings{Rules: []Rule{{Tool: "Bash", KeepLast: 3}, {Tool: "ba*", MinTokens: 500}, {Tool: "mcp__*", Keep: true}}}
	for _, c := range []struct {
		tool   string
		tokens int64
		want   string
	}{
		{"Bash", 499, "by rule for ba* (small)"}, {"Bash", 500, ""}, {"mcp__x__y", 9_000, "by rule for mcp__*"}, {"Read", 1, ""},
	} {
		if got := s.Kept(Result{Tool: c.tool, Tokens: c.tokens}); got != c.want {
			t.Errorf("%s of %d: %q, want %q", c.tool, c.tokens, got, c.want)
		}
	}
}
