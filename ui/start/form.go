package start

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"
	"orchestrator/ui/runner"

	tea "charm.land/bubbletea/v2"
)

// defaults are the initial values of the dialog.
type defaults struct {
	agent string
	dir   string
	git   bool     // worktrees can be created
	taken []string // the threads that work in the folder
}

// newForm returns the dialog for a new thread.
func newForm(agents []thread.AgentInfo, d defaults, create func(thread.NewRequest) tea.Cmd) *dialog.Form {
	runs := runner.New(agents, d.agent, "Looking for agents …")
	prompt := &dialog.Input{Label: "Prompt", Hint: "Task (optional)", Rows: 3, Text: field.Field{Multi: true}}
	name := &dialog.Input{Label: "Name", Hint: "From the prompt (optional)"}
	dir := &dialog.Input{Label: "Folder", Hint: d.dir}
	note := "work in the folder itself"
	if len(d.taken) > 0 {
		note = "share the folder with " + plain.Names(d.taken)
	}
	if !d.git {
		note = "needs a git repository"
	}
	tree := dialog.YesNo("Worktree", len(d.taken) > 0, note)
	tree.Options[1].Note = "work in a separate worktree and branch"
	tree.Hidden = func() bool { return !d.git }
	model := &dialog.Input{Label: "Model", Hint: "the agent's default"}
	mode := &dialog.Input{Label: "Permissions", Hint: "the agent's default"}
	model.Hidden, mode.Hidden = runs.Any, runs.Any
	submit := func() (dialog.Result, string) {
		if problem := runs.Refused(); problem != "" {
			return nil, problem
		}
		flags := thread.Flags{PermissionMode: strings.TrimSpace(mode.Text.Value())}
		if runs.Any() {
			words, problem := runs.Words(nil)
			if problem != "" {
				return nil, problem
			}
			flags.Program = words
		}
		req := thread.NewRequest{
			Agent: runs.Agent.Choice(), Model: strings.TrimSpace(model.Text.Value()),
			Name: strings.TrimSpace(name.Text.Value()), Prompt: strings.TrimSpace(prompt.Text.Value()),
			Dir: strings.TrimSpace(dir.Text.Value()), Worktree: tree.On() && d.git, InPlace: !tree.On(), Flags: flags,
		}
		return host.Do(func() tea.Cmd { return create(req) }), ""
	}
	return dialog.NewForm("new thread", submit,
		runs.Agent, runs.Program, prompt, name, dir, tree, model, mode).Verb("create")
}
