package claude

import (
	"regexp"
	"sync"

	"orchestrator/agent"
	"orchestrator/thread"
)

// rules read the screen; the texts are from recordings of 2.1.330.
var rules = sync.OnceValue(func() []agent.Rule {
	return []agent.Rule{
		{
			State: thread.StateWorking, Lines: agent.InTitle, Detail: "title shows activity",
			Pattern: regexp.MustCompile(`^[◐◑◒◓⠁-⣿]`),
		},
		{
			State: thread.StateApproval, Lines: 14, Detail: "asks for permission",
			Pattern: regexp.MustCompile(`(?m)^\W*(Do you want to (proceed|make this edit|create|overwrite|allow|use|fetch)|` +
				`Would you like to proceed|Claude has written up a plan|Exit plan mode\?)`),
		},
		{
			State: thread.StateApproval, Lines: 20, Detail: "asks whether to trust the folder",
			Pattern: regexp.MustCompile(`Yes, I trust this folder|Do you trust the files in this folder`),
		},
		{
			State: thread.StateApproval, Lines: 14, Detail: "asks whether to use the API key",
			Pattern: regexp.MustCompile(`Do you want to use this API key\?`),
		},
		{
			State: thread.StateApproval, Lines: 20, Detail: "warns about bypassing permissions",
			Pattern: regexp.MustCompile(`Yes, I accept`),
		},
		{ // whatever is chosen has no effect: with --strict-mcp-config none of them is started
			State: thread.StateQuestion, Lines: 40, Detail: "asks which MCP servers of the project to use",
			Pattern: regexp.MustCompile(`(?s)\d+ new MCP servers found in this project\b.*\breject all\b|` +
				`New MCP server found in this project: .*Continue without using this MCP server`),
		},
		{
			State: thread.StateUnauthorised, Lines: 20, Detail: "asks to log in",
			Pattern: regexp.MustCompile(`Select login method|Paste code here if prompted`),
		},
		{
			State: thread.StateQuestion, Lines: 2, Detail: "waits for Enter",
			Pattern: regexp.MustCompile(`(?m)^\s*(Login successful\. )?Press Enter to continue\b`),
		},
		{
			State: thread.StateQuestion, Lines: 14, Detail: "asks a question",
			Pattern: regexp.MustCompile(`Enter to select · .*(Tab|↑/↓).* · Esc to cancel`),
		},
		{
			State: thread.StateQuestion, Lines: 3, Detail: "shows its transcript instead of its input",
			Pattern: regexp.MustCompile(`\bShowing detailed transcript\b`),
		},
		{State: thread.StateQuestion, Lines: 6, Pattern: regexp.MustCompile(`Syntax theme: `), Detail: "asks for a theme"},
		{
			State: thread.StateQuestion, Lines: 3, Detail: "a dialog is open",
			Pattern: regexp.MustCompile(`(?m)^\s*Enter to (confirm|continue|submit)\b.*\bEsc to `),
		},
		{
			State: thread.StateQuestion, Lines: 2, Detail: "a menu is open",
			Pattern: regexp.MustCompile(`\bEsc to (cancel|close|clear|exit|go back)\b|\bEnter to (select|save|use|run)\b|` +
				`\besc to (close|cancel)\b`),
		},
		{
			State: thread.StateWorking, Lines: 8, Detail: `shows "esc to interrupt"`,
			Pattern: regexp.MustCompile(`\besc to interrupt\b`),
		},
		{
			State: thread.StateIdle, Lines: agent.InTitle, Detail: "title shows idle", Prompt: true,
			Pattern: regexp.MustCompile(`^✳`),
		},
	}
})

// Rules implements agent.RuleSource.
func (a *Agent) Rules() []agent.Rule { return rules() }
