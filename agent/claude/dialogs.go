package claude

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"orchestrator/agent/dialog"
	"orchestrator/thread"
)

// dialogs are the questions that Claude Code asks; the texts are from recordings of 2.1.330.
var dialogs = sync.OnceValue(func() []dialog.Form {
	permission := []dialog.Means{
		{Text: regexp.MustCompile(`^Yes$`), Does: thread.Approve},
		{Text: regexp.MustCompile(`^Yes, and (don't ask again|do not ask again|always allow|allow all|switch to accept edits)|^Yes, allow all`),
			Does: thread.ApproveAlways},
		{Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
	}
	return []dialog.Form{
		{
			Kind: thread.QuestionPlan, About: planned, Ruled: true, Next: true,
			Asks: regexp.MustCompile(`^(?:Claude has written up a plan\b.*\. )?(Would you like to proceed\?)`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Yes, and (use auto mode|auto-accept|bypass)`), Does: thread.ApproveAlways},
				{Text: regexp.MustCompile(`^Yes, (and )?manually approve|^Yes$`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
				{Text: regexp.MustCompile(`^Tell Claude what to change`), Does: thread.OwnWords},
			},
		},
		{ // without a plan in its file
			Kind: thread.QuestionPlan, Asks: regexp.MustCompile(`^Exit plan mode\?`), Shows: regexp.MustCompile(`^Claude wants to exit plan mode`), Titled: true,
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Yes, and switch to default\b`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Yes\b`), Does: thread.ApproveAlways}, {Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionPermission, About: about, Means: permission, Ruled: true, Next: true,
			Asks: regexp.MustCompile(`^Do you want to (?:proceed|make this edit|create|overwrite|allow|use .* tool|fetch)\b`),
		},
		{
			Kind: thread.QuestionTrust, About: folder, Asks: regexp.MustCompile(`^Accessing workspace:`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Yes, I trust this folder`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionTrust, Asks: regexp.MustCompile(`^New MCP server found in this project: `), Ruled: true,
			About: func(lines []string, asks int) string { return "MCP server " + strings.SplitN(lines[asks], ": ", 2)[1] },
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Use this MCP server$`), Does: thread.Approve},
				{Text: regexp.MustCompile(`^Use this and all future`), Does: thread.ApproveAlways},
				{Text: regexp.MustCompile(`^Continue without`), Does: thread.Deny},
			},
		},
		{
			Kind: thread.QuestionTrust, Asks: regexp.MustCompile(`^Do you want to use this API key\?`),
			Means: []dialog.Means{
				{Text: regexp.MustCompile(`^Yes\b`), Does: thread.Approve}, {Text: regexp.MustCompile(`^No\b`), Does: thread.Deny},
			},
		},
		{Kind: thread.QuestionLogin, Titled: true, Asks: regexp.MustCompile(`^Select login method:`)},
		{
			Kind: thread.QuestionChoice, Asks: regexp.MustCompile(`\S`), Shows: regexp.MustCompile(`^[☐☒✔] `),
			Means: []dialog.Means{{Text: regexp.MustCompile(`^Type something`), Does: thread.OwnWords}},
		},
	}
})

// Dialogs implements dialog.Source.
func (a *Agent) Dialogs() []dialog.Form { return dialogs() }

// about finds the command or the file that permission is asked for. A command stands between two dotted lines, the
// first and the last ones: between them may be more of them, as part of the command.
func about(lines []string, asks int) string {
	if asks == 0 {
		return ""
	}
	dotted := func(l string) bool { return strings.HasPrefix(l, "╌") }
	first := slices.IndexFunc(lines[:asks], dotted)
	last := asks - 1
	for last > first && !dotted(lines[last]) {
		last--
	}
	if strings.HasPrefix(lines[0], "Bash") && first >= 0 && last > first {
		return strings.Join(lines[first+1:last], ` \n `)
	}
	return file(lines[0], lines[1:asks])
}

// file joins a dialog's title, such as "Create file", with the lines below it: the file, or what a tool is called with.
func file(title string, below []string) string {
	for _, l := range below {
		if strings.HasPrefix(l, "╌") {
			break
		}
		title += " " + l
	}
	return title
}

// planned is the first line of the plan, which stands between two dotted lines.
func planned(lines []string, asks int) string {
	dotted := slices.IndexFunc(lines[:asks], func(l string) bool { return strings.HasPrefix(l, "╌") })
	if dotted < 0 || dotted+1 >= asks {
		return ""
	}
	return lines[dotted+1]
}

func folder(lines []string, asks int) string {
	if asks+1 < len(lines) {
		return lines[asks+1]
	}
	return ""
}
