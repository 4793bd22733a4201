package opencode

import (
	"regexp"
	"strings"
	"sync"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
)

// dialogs are the questions that OpenCode asks; the texts are from recordings of 1.18.33. They are answered by keys: its own
// server would answer a permission by its id, and refuse a late answer, but it needs a port, whose password every command
// of the agent sees in its environment: the agent could allow itself what it asks for.
var dialogs = sync.OnceValue(func() []dialog.Form {
	return []dialog.Form{
		{
			Kind: thread.QuestionPermission, About: about, Titled: true, Asks: regexp.MustCompile(`^△ (Permission required)`),
			Across: regexp.MustCompile(`(Allow once)\s+(Allow always)\s+(Reject)\b`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Allow once$`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Allow always$`), Does: thread.ApproveAlways},
				{Text: regexp.MustCompile(`^Reject$`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionPermission, Titled: true, Asks: regexp.MustCompile(`^△ (Always allow.*)`), Across: regexp.MustCompile(`(Confirm)\s+(Cancel)\b`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Confirm$`), Does: thread.Approve}, {Text: regexp.MustCompile(`^Cancel$`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionChoice, Asks: regexp.MustCompile(`\S`), Shows: regexp.MustCompile(`^↑↓ select\s+enter submit\s+esc dismiss`),
			Means: []dialog.Means{{Text: regexp.MustCompile(`^Type your own answer`), Does: thread.OwnWords}},
		},
	}
})

// Dialogs implements dialog.Source.
func (a *Agent) Dialogs() []dialog.Form { return dialogs() }

// about finds the command, whole, or else what the tool would do, which stands below the title.
func about(lines []string, asks int) string {
	below := lines[asks+1:]
	for i, l := range below {
		if strings.HasPrefix(l, "$ ") {
			return strings.TrimPrefix(strings.Join(below[i:], ` \n `), "$ ")
		}
	}
	return strings.TrimPrefix(strings.Join(below, " "), "# ")
}
