package claude

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// lever is something that settings of ours leave out: tools by a rule that denies them by their bare names, which takes
// them away, and the rest by keys.
type lever struct {
	thread.Lever
	keys map[string]bool // of our settings file
}

// inAll are the profiles that leave out what a task rarely needs.
var inAll = []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal}

// levers are what can be left out, in the order in which people are told of them.
func levers() []lever {
	return []lever{
		{Lever: thread.Lever{
			Name: "workflows", Profiles: inAll, Tools: []string{"Workflow"},
			Lost:  "workflows: scripts by which it runs many agents at once (this program starts threads beside it instead)",
			Words: []string{"workflow"},
		}, keys: map[string]bool{"disableWorkflows": true}},
		{Lever: thread.Lever{
			Name: "loops", Profiles: inAll, Tools: []string{"ScheduleWakeup", "CronCreate", "CronDelete", "CronList"},
			Lost:  "loops and wake-ups by time: it cannot do something again later by itself (/loop, /schedule)",
			Words: []string{"/loop", "/schedule", "every 5 minutes", "every minute", "every hour", "remind me", "wake up"},
		}},
		{Lever: thread.Lever{
			Name: "findings", Profiles: inAll, Tools: []string{"ReportFindings"},
			Lost:  "the list in which a review shows what it found; it writes that as text instead",
			Words: []string{"/code-review", "/review"},
		}},
		{Lever: thread.Lever{
			Name: "messages", Profiles: inAll, Tools: []string{"ListAgents", "SendMessage"},
			Lost:  "messages to agents that it has started before, to go on with them",
			Words: []string{"sendmessage", "message the agent"},
		}},
		{Lever: thread.Lever{
			Name: "worktrees", Profiles: inAll, Tools: []string{"EnterWorktree", "ExitWorktree"},
			Lost:  "working copies that it makes for itself (a fork of the thread has its own)",
			Words: []string{"worktree"},
		}},
		{Lever: thread.Lever{
			Name: "monitors", Profiles: inAll, Tools: []string{"Monitor"},
			Lost:  "watching the output of a command that runs on in the background",
			Words: []string{"monitor", "watch the log"},
		}},
		{Lever: thread.Lever{
			Name: "notebooks", Profiles: inAll, Tools: []string{"NotebookEdit"},
			Lost:  "editing Jupyter notebooks cell by cell",
			Words: []string{"notebook", ".ipynb", "jupyter"},
		}},
		{Lever: thread.Lever{
			Name: "bundled-skills", Profiles: inAll, Needs: []string{"workflows"},
			Lost:  "the instructions that its maker ships for special tasks (/code-review, /simplify, dataviz); yours and the repository's stay",
			Words: []string{"/code-review", "/simplify", "/security-review", "/init", "dataviz", "claude-api"},
		}, keys: map[string]bool{"disableBundledSkills": true}},
		{Lever: thread.Lever{
			Name: "auto-memory", Profiles: inAll,
			Lost:  "notes that it keeps for itself from one conversation to the next; your CLAUDE.md is read as always",
			Words: []string{"remember this", "remember that", "/memory"},
		}, keys: map[string]bool{"autoMemoryEnabled": false}},
		{Lever: thread.Lever{
			Name: "agents", Profiles: []string{thread.BaseMinimal}, Tools: []string{"Agent", "Task"},
			Lost:  "agents of its own, to which it hands a search or a part of the work",
			Words: []string{"subagent", "sub-agent", "in parallel", "explore agent"},
		}},
		{Lever: thread.Lever{
			Name: "questions", Profiles: []string{thread.BaseMinimal}, Tools: []string{"AskUserQuestion"},
			Lost:  "questions with answers to choose from; it asks in its text instead",
			Words: []string{"ask me", "interview me"},
		}},
		{Lever: thread.Lever{
			Name: "skills", Profiles: []string{thread.BaseMinimal}, Tools: []string{"Skill"}, Needs: []string{"workflows", "bundled-skills"},
			Lost:  "skills: instructions for special tasks that it loads when it needs them",
			Words: []string{"skill"},
		}},
		{Lever: thread.Lever{
			Name: "git", Profiles: []string{thread.BaseMinimal},
			Lost:  "the state of git at the start, and its maker's rules for commits and pull requests",
			Words: []string{"pull request", "commit"},
		}, keys: map[string]bool{"includeGitInstructions": false}},
		{Lever: thread.Lever{
			Name: "editing", Profiles: []string{thread.BaseReadOnly}, Tools: []string{"Edit", "MultiEdit", "Write", "NotebookEdit"},
			Lost:  "changing files",
			Words: []string{"fix", "implement", "write", "edit", "change", "refactor", "rename", "add"},
		}},
		{Lever: thread.Lever{
			Name: "shell", Profiles: []string{thread.BaseReadOnly}, Tools: []string{"Bash", "BashOutput", "KillShell", "TaskOutput", "TaskStop"},
			Lost:  "running commands: tests, builds, git",
			Words: []string{"run", "test", "build", "install"},
		}},
	}
}

// Levers implements thread.Slimmer.
func (a *Agent) Levers(ctx context.Context, spec thread.WorldSpec) (thread.Levers, error) {
	found, err := a.program.Find(ctx, launch.Env(spec.Env).Adding(spec.Flags.Env))
	if err != nil {
		return thread.Levers{}, fmt.Errorf("levers of claude: %w", err)
	}
	out := thread.Levers{Agent: Name, Version: found.Version, Known: true}
	for _, l := range levers() {
		out.Levers = append(out.Levers, l.Lever)
	}
	return out, nil
}

// leaveOut adds what levers leave out to our settings.
func leaveOut(s map[string]any, names []string) {
	var deny []any
	for _, l := range levers() {
		if !slices.Contains(names, l.Name) {
			continue
		}
		for _, tool := range l.Tools {
			if !slices.Contains(deny, any(tool)) {
				deny = append(deny, tool)
			}
		}
		for key, value := range l.keys {
			if _, ok := s[key]; !ok {
				s[key] = value
			}
		}
	}
	if len(deny) > 0 {
		merged := map[string]any{}
		theirs, _ := s["permissions"].(map[string]any)
		maps.Copy(merged, theirs)
		list, _ := theirs["deny"].([]any)
		merged["deny"] = slices.Concat(list, deny)
		s["permissions"] = merged
	}
}

// Surroundings implements thread.Slimmer.
func (a *Agent) Surroundings(thread.WorldSpec) []thread.BaseWarning { return nil }

// BaseParts implements thread.Slimmer.
func (a *Agent) BaseParts(texts []thread.BaseText) []thread.BaseText { return texts }

// Missing implements thread.Slimmer.
func (a *Agent) Missing(string) []string { return nil }
