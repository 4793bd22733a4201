package codex

import (
	"regexp"
	"strings"
	"sync"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
)

// dialogs are the questions that Codex asks; the texts are from recordings of 0.169.0. They are answered by keys: a hook
// PermissionRequest runs before the dialog, which is shown only once the hook has ended, so one that waits for somebody
// elsewhere would keep the person at the terminal from answering.
var dialogs = sync.OnceValue(func() []dialog.Form {
	return []dialog.Form{
		{
			Kind: thread.QuestionPermission, About: about, Titled: true,
			Asks: regexp.MustCompile(`^Would you like to (?:run the following command|make the following edits|grant|allow)`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Yes, (proceed|grant|allow)\b.*\(y\)$|^Yes, proceed`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Yes, and don't ask again`), Does: thread.ApproveAlways},
				{Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
			},
		},
		{Kind: thread.QuestionLogin, Titled: true, Asks: regexp.MustCompile(`^Choose how you want to use Codex`)},
		{
			Kind: thread.QuestionTrust, Asks: regexp.MustCompile(`^(Trust this folder\?|Do you trust the contents of this directory\?)`),
			About: func(lines []string, asks int) string {
				if asks == 0 {
					return ""
				}
				return lines[asks-1]
			},
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Trust and continue|^Yes, continue`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Back to|^No, quit`), Does: thread.Deny},
			},
		},
	}
})

// Dialogs implements dialog.Source.
func (a *Agent) Dialogs() []dialog.Form { return dialogs() }

// about finds the command that permission is asked for, or the reason.
func about(lines []string, asks int) string {
	reason := ""
	for i, l := range lines[asks:] {
		if _, ok := strings.CutPrefix(l, "$ "); ok {
			return strings.TrimPrefix(strings.Join(lines[asks+i:], ` \n `), "$ ")
		}
		if r, ok := strings.CutPrefix(l, "Reason: "); ok {
			reason = r
		}
	}
	return reason
}
