package opencode

import (
	"regexp"
	"sync"

	"orchestrator/agent"
	"orchestrator/thread"
)

// rules read the screen; the texts are from recordings of 1.18.33. With a long folder name the last line wraps:
// "ctrl+p" may be above "commands".
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{
			State: thread.StateApproval, Lines: 30, Detail: "asks for permission",
			Pattern: regexp.MustCompile(`△ Permission required|Allow once\s+Allow always\s+Reject`),
		},
		{
			State: thread.StateQuestion, Lines: 30, Detail: "asks a question",
			Pattern: regexp.MustCompile(`Type your own answer|△ Question`),
		},
		{
			State: thread.StateQuestion, Lines: 30, Detail: "a list is open",
			Pattern: regexp.MustCompile(`↑↓ select\s+enter submit|(?m)\s{2,}[A-Z][\w ]*\s{4,}esc\s*$`),
		},
		{
			State: thread.StateWorking, Lines: 12, Detail: `shows "esc to interrupt"`,
			Pattern: regexp.MustCompile(`\besc (again to )?interrupt\b`),
		},
		{
			State: thread.StateIdle, Lines: 12, Detail: "waits for a prompt", Prompt: true,
			Pattern: regexp.MustCompile(`\bctrl\+p\b`),
		},
	}
})

// Rules implements agent.RuleSource.
func (a *Agent) Rules() []agent.Rule { return rules() }
