package command

import (
	"regexp"
	"sync"

	"orchestrator/agent"
	"orchestrator/thread"
)

// rules recognise the questions of any program.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{
			State: thread.StateQuestion, Lines: 1, Detail: "asks yes or no",
			Pattern: regexp.MustCompile(`(?i)[\[(](y/n|y/n/\S{1,8}|yes/no)[\])]\s*[:?]?\s*$`),
		},
		{
			State: thread.StateQuestion, Lines: 1, Detail: "asks for a password",
			Pattern: regexp.MustCompile(`(?i)\b(password|passphrase|passcode)\b.{0,80}:\s*$`),
		},
		{
			State: thread.StateQuestion, Lines: 3, Detail: "a menu is open",
			Pattern: regexp.MustCompile(`(?i)\b(enter|return) to (confirm|select|continue|save|submit)\b.*\besc\b|` +
				`\besc to (cancel|close|go back)\b|\(use (enter to select|arrow[ -]keys)`),
		},
	}
})

// Rules implements agent.RuleSource.
func (*Agent) Rules() []agent.Rule { return rules() }
