package fork

import (
	"cmp"
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
	label string
	git   bool // a worktree can be created
	fresh bool // start with an empty context
	// lever is offered back to the thread, because needs asked for it.
	lever, needs string
}

// newForm returns the dialog that forks a thread at a point.
func newForm(
	s *thread.Status, at host.Point, agents []thread.AgentInfo, d defaults, fork func(thread.ForkRequest) tea.Cmd,
) *dialog.Form {
	runs := choice(s, at, agents)
	what := &dialog.Input{Label: "Purpose", Hint: "What the fork is for", Text: field.Suggest(d.label)}
	name := &dialog.Input{Label: "Name", Hint: "From the purpose (optional)"}
	prompt := &dialog.Input{Label: "Prompt", Hint: "First prompt (optional)", Rows: 3, Text: field.Field{Multi: true}}
	tree := dialog.YesNo("Worktree", true, "share the folder of "+s.TypedName())
	tree.Options[1].Note = "own worktree, files as of that turn"
	tree.Hidden = func() bool { return !d.git }
	space := &dialog.Input{Label: "Context", Options: []dialog.Option{
		{Value: "whole", Note: "keep the conversation"},
		{Value: "fresh", Note: "start empty, with a summary of the conversation"},
	}}
	if d.fresh {
		space.Pick = 1
	}
	back := dialog.YesNo("Offered", true, "without it, as in "+s.TypedName())
	back.Options[1].Note = "with " + plain.Line(d.needs) + ", which its base leaves out"
	back.Hidden = func() bool { return d.lever == "" || runs.Agent.Choice() != s.Agent }
	space.Hidden = func() bool { return runs.Agent.Choice() != s.Agent || runs.Any() || at.Inside || s.Turn == 0 }
	base := runner.NewBase(agents, s.Agent, func(a thread.AgentInfo) dialog.Option {
		return dialog.Option{Value: "as the parent", Note: runner.Says(a, cmp.Or(s.Base.Next, s.Base.Profile))}
	})
	runs.Agent.Picked = func() { base.For(runs.Agent.Choice()) }
	var parents []string // the parent's program
	if runner.IsCommand(s.Agent) {
		parents = s.Launch.Program
		runs.Program.Hint = strings.Join(parents, " ")
	}
	submit := func() (dialog.Result, string) {
		if problem := runs.Refused(); problem != "" {
			return nil, problem
		}
		l := strings.TrimSpace(what.Text.Value())
		if l == "" {
			l = strings.TrimSpace(prompt.Text.Value())
		}
		if l == "" {
			return nil, "Enter a purpose; a word or two is enough"
		}
		req := thread.ForkRequest{
			Thread: string(s.ID), At: at.At, Label: l, Name: strings.TrimSpace(name.Text.Value()),
			Prompt: strings.TrimSpace(prompt.Text.Value()), NoWorktree: !d.git || !tree.On(),
			Fresh: !space.Hidden() && space.On(), Base: base.Choice(),
		}
		if !back.Hidden() && back.On() {
			profile, keep := s.Base.With(d.lever)
			req.Base, req.Keep = cmp.Or(req.Base, profile), keep
		}
		if runs.Agent.Choice() != s.Agent {
			req.Agent = runs.Agent.Choice()
		}
		if runs.Any() {
			words, problem := runs.Words(parents)
			if problem != "" {
				return nil, problem
			}
			req.Program = words
		}
		return host.Do(func() tea.Cmd { return fork(req) }), ""
	}
	return dialog.NewForm("fork "+s.TypedName()+" at "+at.Text, submit,
		what, runs.Agent, runs.Program, space, back, prompt, tree, name, base.Input).Verb("fork")
}

// choice returns the fields for the agent of a fork, noting what each agent gets of the conversation.
func choice(s *thread.Status, at host.Point, agents []thread.AgentInfo) runner.Inputs {
	in := runner.New(agents, s.Agent, "")
	for i := range in.Agent.Options {
		o := &in.Agent.Options[i]
		switch {
		case o.Off || s.Turn == 0:
		case o.Value == s.Agent && at.Inside:
			o.Note = "gets a summary: a conversation cannot be cut inside a turn"
		case o.Value == s.Agent:
			o.Note = "" // the Context field says it
		default:
			o.Note = "gets a summary of the conversation"
		}
	}
	return in
}
