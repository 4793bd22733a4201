package agenttest

import (
	"strings"
	"testing"

	"orchestrator/agent"
	"orchestrator/thread"
)

// Screen is a screen of an agent, and the state that its rules should read from it.
type Screen struct {
	Name  string
	Lines string // the screen's lines
	Title string // the terminal's title
	Want  thread.State
}

// Rules checks what an adapter's rules read from screens.
func Rules(t *testing.T, rules []agent.Rule, screens []Screen) {
	t.Helper()
	for _, s := range screens {
		got, _ := agent.Match(rules, strings.Split(s.Lines, "\n"), s.Title)
		if got.State != s.Want {
			t.Errorf("%s: %q (%s), want %q", s.Name, got.State, got.Detail, s.Want)
		}
	}
}
