package gemini

import (
	"regexp"
	"strings"
	"sync"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
)

// dialogs are the questions that Gemini CLI asks; the texts are from recordings of 0.61.0. They are answered by keys: the
// hooks BeforeTool and Notification both run before the dialog, which waits for them, and neither can allow a call.
var dialogs = sync.OnceValue(func() []dialog.Form {
	return []dialog.Form{
		{
			Kind: thread.QuestionPermission, About: about, Ruled: true, Next: true, Asks: regexp.MustCompile(`^Allow execution of|^Apply this change\?|^Allow\b.*\?$`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Allow once$`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Allow for this session$`), Does: thread.ApproveAlways},
				{Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionTrust, Asks: regexp.MustCompile(`^Do you trust the files in this folder\?`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Trust folder\b`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Don't trust`), Does: thread.Deny},
			},
		},
		{Kind: thread.QuestionLogin, Titled: true, Asks: regexp.MustCompile(`^How would you like to authenticate`)},
		{
			Kind: thread.QuestionChoice, Asks: regexp.MustCompile(`\S`), Shows: regexp.MustCompile(`^Answer Questions|^Enter to select · .*Esc to cancel`),
			Means: []dialog.Means{{Text: regexp.MustCompile(`^Enter a custom value`), Does: thread.OwnWords}},
		},
	}
})

// Dialogs implements dialog.Source.
func (a *Agent) Dialogs() []dialog.Form { return dialogs() }

// about finds the tool and what it would do: "? Shell  touch made.txt" is the first line of the dialog, and a command
// stands whole in the frame below it.
func about(lines []string, asks int) string {
	if asks == 0 {
		return ""
	}
	tool := strings.TrimPrefix(lines[0], "? ")
	if _, shell := strings.CutPrefix(tool, "Shell "); shell && asks > 3 {
		return strings.Join(lines[2:asks-1], ` \n `)
	}
	return tool
}
