package claude

import (
	"maps"
	"slices"

	"orchestrator/thread"
)

// lever is something that settings of ours leave out: tools by rules that deny them by their bare names, which takes
// them out of the request, and the rest by keys.
type lever struct {
	thread.Lever
	rules []string        // more that is denied
	keys  map[string]bool // of the settings
}

// measured are the versions with which the table was measured: what each lever saves, and that no text names a tool that
// has gone. Newest last.
func measured() []string { return []string{"2.1.330", "2.1.332"} }

// task are the profiles that leave out what a task rarely needs.
func task() []string { return []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal} }

// levers are what can be left out, in the order in which people are told of them. ToolSearch always stays: without it,
// the definitions of all MCP tools come first. Tools that are only named until they are searched for save next to
// nothing. Texts that name what has gone: the list of agents NotebookEdit, which two of them lack too; the definitions of
// the tools for plans AskUserQuestion and Agent, that of Workflow Agent and TaskStop, that of Bash Monitor for older models,
// and what is said of its own notes Write.
func levers() []lever {
	return slices.Concat(makersLevers(), workLevers())
}

// makersLevers are what Claude Code has besides working on code.
func makersLevers() []lever {
	return []lever{
		{Lever: thread.Lever{
			Name: "workflows", Profiles: task(), Tools: []string{"Workflow"}, Saves: 1372,
			Lost:  "scripts that run many subagents at once. Threads and forks of this program also work side by side",
			Words: []string{"workflow", "ultracode"},
		}, keys: map[string]bool{"disableWorkflows": true}},
		{Lever: thread.Lever{
			Name: "bundled-skills", Profiles: task(), Parts: []string{"skills"}, Needs: []string{"workflows"}, Saves: 1345,
			Lost: "instructions that come with Claude Code for special tasks: reviews (/code-review, /security-review), /simplify, " +
				"/init, charts, its own settings. Your own skills and the repository's stay",
			Words: []string{"/code-review", "/review", "/security-review", "/simplify", "/init", "/run", "/loop", "/claude-api", "/dataviz",
				"/update-config", "/fewer-permission-prompts"},
		}, keys: map[string]bool{"disableBundledSkills": true}},
		{Lever: thread.Lever{
			Name: "loops", Profiles: task(), Tools: []string{"ScheduleWakeup", "CronCreate", "CronDelete", "CronList"}, Saves: 1134,
			Lost: "repeating something by itself: every few minutes, or at a set time (/loop)",
			Words: []string{"/loop", "every minute", "every 5 minutes", "every 10 minutes", "every few minutes", "every hour", "every day",
				"remind me", "check back", "wake up"},
		}},
		{Lever: thread.Lever{
			Name: "findings", Profiles: task(), Tools: []string{"ReportFindings"}, Saves: 533,
			Lost:  "the list in which a review shows what it found. It writes its findings as text instead",
			Words: []string{"/code-review", "/review"},
		}},
		{Lever: thread.Lever{
			Name: "messages", Profiles: task(), Tools: []string{"ListAgents", "SendMessage"}, Saves: 699,
			Lost: "continuing a subagent that it started earlier, messages between them, and the subagent that answers questions " +
				"about Claude Code itself",
			Words: []string{"sendmessage", "send a message to the agent", "other agents", "how do i use claude code"},
		}, rules: []string{"Agent(claude-code-guide)"}}, // which is told to use SendMessage
		{Lever: thread.Lever{
			Name: "worktrees", Profiles: task(), Tools: []string{"EnterWorktree", "ExitWorktree"}, Saves: 8,
			Lost:  "copies of the repository that it makes to work in. A fork of the thread has one of its own",
			Words: []string{"in a worktree", "enterworktree"},
		}},
		{Lever: thread.Lever{
			Name: "auto-memory", Profiles: task(), Parts: []string{"system: its own notes"}, Saves: 465,
			Lost:  "notes that it keeps for itself from one conversation to the next. Your files of instructions are read as always",
			Words: []string{"remember that", "remember this", "/memory", "as i told you last time"},
		}, keys: map[string]bool{"autoMemoryEnabled": false}},
		{Lever: thread.Lever{ // named in a text of some models
			Name: "monitors", Tools: []string{"Monitor"}, Named: []string{"Monitor"}, Saves: 2,
			Lost:  "being told of each new line that a command in the background writes",
			Words: []string{"monitor", "watch the log"},
		}},
		{Lever: thread.Lever{ // named in the list of agents
			Name: "notebooks", Tools: []string{"NotebookEdit"}, Named: []string{"NotebookEdit"}, Saves: 3,
			Lost:  "changing single cells of Jupyter notebooks",
			Words: []string{"notebook", ".ipynb"},
		}},
	}
}

// workLevers are what work on code may need.
func workLevers() []lever {
	minimal := []string{thread.BaseMinimal}
	return []lever{
		{Lever: thread.Lever{
			Name: "agents", Profiles: minimal, Parts: []string{"agents"}, Tools: []string{"Agent", "Task"}, Named: []string{"Agent"}, Saves: 1610,
			Lost:  "subagents, to which it hands a search or a part of the work. It does it all itself, one after the other",
			Words: []string{"subagent", "sub-agent", "sub agent", "explore agent", "in parallel", "with agents", "use agents"},
		}},
		{Lever: thread.Lever{
			Name: "questions", Profiles: minimal, Tools: []string{"AskUserQuestion"}, Named: []string{"AskUserQuestion"}, Saves: 1074,
			Lost:  "questions with answers to choose from. It asks in its text instead",
			Words: []string{"ask me", "interview me", "askuserquestion"},
		}},
		{Lever: thread.Lever{
			Name: "skills", Profiles: minimal, Parts: []string{"skills"}, Tools: []string{"Skill"}, Saves: 509,
			Needs: []string{"workflows", "bundled-skills"},
			Lost:  "skills: instructions for special tasks that it loads when they are needed",
			Words: []string{"skill"},
		}},
		{Lever: thread.Lever{
			Name: "git", Profiles: minimal, Parts: []string{"environment: git"}, Saves: 477,
			Lost: "the branch, changes and newest commits at the start, and the line by which commits name Claude. It looks itself when " +
				"it needs them",
		}, keys: map[string]bool{"includeGitInstructions": false}},
		{Lever: thread.Lever{
			Name: "editing", Profiles: []string{thread.BaseReadOnly}, Saves: 469,
			Tools: []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}, Named: []string{"NotebookEdit", "Write"},
			Lost:  "changing files. It says what it would change",
			Words: []string{"fix", "implement", "refactor", "rewrite", "rename", "edit the", "write the"},
		}},
		{Lever: thread.Lever{
			Name: "shell", Profiles: []string{thread.BaseReadOnly}, Saves: 105,
			Tools: []string{"Bash", "BashOutput", "KillShell", "TaskOutput", "TaskStop", "Monitor"}, Named: []string{"TaskStop", "Monitor"},
			Lost:  "commands: tests, builds, git. It searches and reads files with tools for that",
			Words: []string{"run the", "run tests", "go test", "npm ", "pytest", "cargo ", "build it", "commit"},
		}},
	}
}

// leaveOut adds levers to our settings, which have the person's own --settings. The same levers add the same.
func leaveOut(s map[string]any, use []lever) {
	var deny []any
	for _, l := range use {
		for _, rule := range slices.Concat(l.Tools, l.rules) {
			if !slices.Contains(deny, any(rule)) {
				deny = append(deny, rule)
			}
		}
		for key, value := range l.keys {
			s[key] = value
		}
	}
	if len(deny) == 0 {
		return
	}
	merged := map[string]any{}
	theirs, _ := s["permissions"].(map[string]any)
	maps.Copy(merged, theirs)
	list, _ := theirs["deny"].([]any)
	merged["deny"] = slices.Concat(list, deny)
	s["permissions"] = merged
}
