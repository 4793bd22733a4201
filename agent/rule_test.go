package agent_test

import (
	"regexp"
	"testing"

	"orchestrator/agent"
	"orchestrator/thread"
)

func TestMatch(t *testing.T) {
	rules := []agent.Rule{
		{State: thread.StateWorking, Pattern: regexp.MustCompile(`^[◐◑]`), Lines: agent.InTitle, Detail: "title"},
		{State: thread.StateApproval, Pattern: regexp.MustCompile(`Do you want to proceed\?`), Lines: 3, Detail: "dialog"},
		{State: thread.StateIdle, Pattern: regexp.MustCompile(`(?m)^> $`), Detail: "prompt"},
	}
	for _, c := range []struct {
		name  string
		lines []string
		title string
		want  string // Detail, empty for no match
	}{
		{"nothing on it", nil, "", ""},
		{"title first", []string{"> "}, "◐ busy", "title"},
		{"title does not match", []string{"> "}, "idle ◐", "prompt"},
		{"dialog in the last lines", []string{"> ", "Do you want to proceed?", "", "1. Yes", "", ""}, "", "dialog"},
		{"dialog scrolled up", []string{"Do you want to proceed?", "a", "b", "c", "> "}, "", "prompt"},
		{"whole screen", []string{"> ", "a", "b", "c", "d"}, "", "prompt"},
		{"other words", []string{"hello"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := agent.Match(rules, c.lines, c.title)
			if ok != (c.want != "") || got.Detail != c.want {
				t.Errorf("Match = %q, %v; want %q", got.Detail, ok, c.want)
			}
		})
	}
}
