package gemini

import (
	"regexp"
	"sync"

	"orchestrator/agent"
	"orchestrator/thread"
)

// rules read the screen; the texts are from recordings of 0.61.0.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{
			State: thread.StateQuestion, Lines: 10, Detail: "asks a question",
			Pattern: regexp.MustCompile(`(?m)^\W*Enter to select · .*Esc to cancel`),
		},
		{
			State: thread.StateApproval, Lines: agent.InTitle, Detail: "title asks for action",
			Pattern: regexp.MustCompile(`^✋`),
		},
		{
			State: thread.StateApproval, Lines: 24, Detail: "asks whether to trust the folder",
			Pattern: regexp.MustCompile(`Do you trust the files in this folder\?`),
		},
		{
			State: thread.StateApproval, Lines: 24, Detail: "asks for permission",
			Pattern: regexp.MustCompile(`Allow execution of|Apply this change\?|● 1\. Allow once|1\. Allow once`),
		},
		{
			State: thread.StateUnauthorised, Lines: 24, Detail: "asks to log in",
			Pattern: regexp.MustCompile(`How would you like to authenticate|Enter Gemini API Key|Login with Google`),
		},
		{
			State: thread.StateQuestion, Lines: 10, Detail: "a menu is open",
			Pattern: regexp.MustCompile(`\(Use Enter to select\b|\(Press (Enter|Esc) to |(?m)^\W*Press q to exit|` +
				`^\s*Navigate: .*Quit: q`),
		},
		{
			State: thread.StateQuestion, Lines: 24, Detail: "a choice is open",
			Pattern: regexp.MustCompile(`(?m)^ *│ *● \d+\. `),
		},
		{State: thread.StateWorking, Lines: agent.InTitle, Pattern: regexp.MustCompile(`^✦`), Detail: "title shows activity"},
		{
			State: thread.StateWorking, Lines: 12, Detail: `shows "esc to cancel"`,
			Pattern: regexp.MustCompile(`\(esc to cancel, \d`),
		},
		{
			State: thread.StateIdle, Lines: 8, Detail: "waits for a message", Prompt: true,
			Pattern: regexp.MustCompile(`Type your message or @path`),
		},
		{State: thread.StateIdle, Lines: agent.InTitle, Pattern: regexp.MustCompile(`^◇`), Detail: "title shows idle"},
	}
})

// Rules implements agent.RuleSource.
func (a *Agent) Rules() []agent.Rule { return rules() }
