package codex

import (
	"regexp"
	"sync"

	"orchestrator/agent"
	"orchestrator/thread"
)

// rules read the screen; the texts are from recordings of 0.169.0.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{
			State: thread.StateApproval, Lines: agent.InTitle, Detail: "title asks for action",
			Pattern: regexp.MustCompile(`Action Required`),
		},
		{
			State: thread.StateApproval, Lines: 20, Detail: "asks for permission",
			Pattern: regexp.MustCompile(`Would you like to (run the following command|make the following edits|grant|allow)`),
		},
		{
			State: thread.StateApproval, Lines: 20, Detail: "asks whether to trust the folder",
			Pattern: regexp.MustCompile(`Trust this folder\?|Do you trust the contents of this directory`),
		},
		{
			State: thread.StateUnauthorised, Lines: 24, Detail: "asks to log in",
			Pattern: regexp.MustCompile(`Sign in with ChatGPT|Provide your own API key`),
		},
		{
			State: thread.StateQuestion, Lines: 8, Detail: "asks a question",
			Pattern: regexp.MustCompile(`[Pp]ress enter to (confirm|continue|submit)|enter to submit answer|` +
				`enter/esc confirm|enter (continue|select|confirm|resume) · esc (back|dismiss|exit)`),
		},
		{
			State: thread.StateQuestion, Lines: 4, Detail: "a list is open",
			Pattern: regexp.MustCompile(`(?m)^\s*enter \w+\b.*\besc (back|dismiss|exit)\b`),
		},
		{
			State: thread.StateQuestion, Lines: 4, Detail: "shows a pager instead of its input",
			Pattern: regexp.MustCompile(`\bto scroll\b.*\bto page\b.*\bto jump\b`),
		},
		{
			State: thread.StateWorking, Lines: agent.InTitle, Detail: "title shows activity",
			Pattern: regexp.MustCompile(`^[⠁-⣿] `),
		},
		{
			State: thread.StateWorking, Lines: 12, Detail: `shows "esc to interrupt"`,
			Pattern: regexp.MustCompile(`\besc to interrupt\b`),
		},
		{
			State: thread.StateIdle, Lines: 8, Detail: "waits for a prompt", Prompt: true,
			Pattern: regexp.MustCompile(`(?m)^\s*› [^0-9]`),
		},
	}
})

// Rules implements agent.RuleSource.
func (a *Agent) Rules() []agent.Rule { return rules() }
