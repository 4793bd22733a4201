package agenttest_test

import (
	"strings"

	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
)

// withoutShell answers by markers also if no shell is offered: read-only runs have none, and those that only report.
func withoutShell(t model.Turn) scripted.Reply {
	if len(t.Tools) > 0 && strings.Contains(t.Prompt, "#") || strings.HasPrefix(t.Prompt, reporting) {
		t.Side = false
	}
	tasks := delegations()[t.Prompt]
	switch {
	case tasks == nil:
		return questions(t)
	case t.Round > 0:
		return scripted.Reply{Text: "all done", Usage: scripted.Usage{Input: 4000, CacheRead: 4, Output: 6}}
	}
	r := scripted.Reply{Usage: scripted.Usage{Input: 3000, CacheRead: 3, Output: 5}}
	for _, task := range tasks {
		r.Calls = append(r.Calls, scripted.Call{Name: "Agent", Args: map[string]any{
			"description": "look", "subagent_type": "general-purpose", "prompt": task,
		}})
	}
	return r
}

// The prompts of an agent that has a part of the work done by another.
const (
	delegating = "have it looked at"
	delegated  = "look at it #usage:2001,1,0,8 #bash:echo out-sub #usage:2002,2,0,9 #say:looked at"
	// delegatingAsk has two work that ask.
	delegatingAsk = "have both made"
	// reporting begins the prompt of a run without tools.
	reporting = "report "
)

// delegations are the prompts of the parts, by that of the whole.
func delegations() map[string][]string {
	return map[string][]string{
		delegating:    {delegated},
		delegatingAsk: {"make a #bash:touch sub-a.txt #say:made a", "make b #bash:touch sub-b.txt #say:made b"},
	}
}
