package demo

import (
	"regexp"
	"sync"

	"orchestrator/agent"
	"orchestrator/thread"
)

// rules read the screen. The agent reports its state itself; they are for lost reports.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{State: thread.StateApproval, Lines: 10, Detail: "asks for permission",
			Pattern: regexp.MustCompile(`(?m)^\? Allow this (?:command|tool)`)},
		{State: thread.StateQuestion, Lines: 14, Detail: "asks a question",
			Pattern: regexp.MustCompile(`(?m)^\? (?s:.*)^  enter to choose`)},
		{State: thread.StateWorking, Lines: 8, Detail: `shows "esc to interrupt"`,
			Pattern: regexp.MustCompile(`working \d+s · esc to interrupt`)},
		{State: thread.StateIdle, Lines: 7, Detail: "empty prompt", Pattern: regexp.MustCompile(`(?m)^› ?$`)},
	}
})

// Rules returns the rules of the demo agent's screen.
func (a *Agent) Rules() []agent.Rule { return rules() }
