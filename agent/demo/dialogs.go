package demo

import (
	"regexp"
	"strings"
	"sync"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
)

// planAsked is what the agent asks about a plan.
const planAsked = `Shall I go on with this plan\?`

// dialogs are the questions that the agent asks.
var dialogs = sync.OnceValue(func() []dialog.Form {
	return []dialog.Form{
		{
			Kind: thread.QuestionPermission, Asks: regexp.MustCompile(`^\? (Allow this (?:command|tool).*)`),
			About: func(lines []string, asks int) string {
				if asks+1 >= len(lines) {
					return ""
				}
				return strings.TrimPrefix(strings.Join(lines[asks+1:], " "), "$ ")
			},
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`(?i)^yes, (and )?(always|do not ask|don't ask)`), Does: thread.ApproveAlways},
				{Text: regexp.MustCompile(`(?i)^yes\b`), Does: thread.Approve},
				{Text: regexp.MustCompile(`(?i)^no\b`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionPlan, Asks: regexp.MustCompile(`^\? (` + planAsked + `)`),
			About: func(lines []string, asks int) string {
				return strings.TrimPrefix(strings.Join(lines[min(asks+1, len(lines)):], " "), "$ ")
			},
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`(?i)^yes\b`), Does: thread.Approve},
				{Text: regexp.MustCompile(`(?i)^no\b`), Does: thread.Deny},
			},
		},
		{Kind: thread.QuestionChoice, Asks: regexp.MustCompile(`^\? (.*)`), Shows: regexp.MustCompile(`^enter to choose`)},
	}
})

// Dialogs implements dialog.Source.
func (a *Agent) Dialogs() []dialog.Form { return dialogs() }
