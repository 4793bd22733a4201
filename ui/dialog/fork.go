package dialog

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/field"
)

// Forked is the result of the fork dialog.
type Forked struct{ Request thread.ForkRequest }

// DialogResult marks it.
func (Forked) DialogResult() {}

// Point is where a fork begins or a rewind ends.
type Point struct {
	At string // as requests name it; empty is the newest
	// Text says it for people: "turn 3".
	Text string
	// Inside is set where a turn had not ended: a conversation cannot be cut there.
	Inside bool
}

// ForkDefaults are what a fork dialog begins with.
type ForkDefaults struct {
	Label string
	// Git is set where a worktree can be made.
	Git bool
	// Fresh has the fork begin with an empty context.
	Fresh bool
}

// NewFork makes the dialog that forks a thread at a point.
func NewFork(s *thread.Status, at Point, agents []thread.AgentInfo, d ForkDefaults) *Form {
	agent := forkAgents(s, at, agents)
	what := &Input{Label: "For", Hint: "What the fork is for", Text: field.New(d.Label)}
	name := &Input{Label: "Name", Hint: "From what it is for (optional)"}
	prompt := &Input{Label: "Prompt", Hint: "First prompt (optional)", Rows: 3, Text: field.Field{Multi: true}}
	tree := yesNo("Worktree", true, "shares the folder with "+s.DisplayName())
	tree.Options[1].Note = "gets the files as of that turn, on a branch of its own"
	tree.Hidden = func() bool { return !d.Git }
	space := &Input{Label: "Context", Options: []Option{
		{Value: "whole", Note: "continues the conversation"},
		{Value: "fresh", Note: "starts empty, with a summary of the conversation"},
	}}
	if d.Fresh {
		space.Pick = 1
	}
	isCommand := func() bool { return agent.Choice() == commandAgent }
	space.Hidden = func() bool { return agent.Choice() != s.Agent || isCommand() || at.Inside || s.Turn == 0 }
	program := programInput()
	program.Hidden = func() bool { return !isCommand() }
	var parents []string // program
	if s.Agent == commandAgent {
		parents = s.Launch.Program
		program.Hint = strings.Join(parents, " ")
	}
	submit := func() (Result, string) {
		if o := agent.Options[agent.Pick]; o.Off {
			return nil, o.Value + ": " + o.Note
		}
		l := strings.TrimSpace(what.Text.Value())
		if l == "" {
			l = strings.TrimSpace(prompt.Text.Value())
		}
		if l == "" {
			return nil, "Enter what the fork is for; a word or two is enough"
		}
		req := thread.ForkRequest{
			Thread: string(s.ID), At: at.At, Label: l, Name: strings.TrimSpace(name.Text.Value()),
			Prompt: strings.TrimSpace(prompt.Text.Value()), NoWorktree: !d.Git || !tree.on(),
			Fresh: !space.Hidden() && space.on(),
		}
		if agent.Choice() != s.Agent {
			req.Agent = agent.Choice()
		}
		if isCommand() {
			words, problem := programOf(program, parents)
			if problem != "" {
				return nil, problem
			}
			req.Program = words
		}
		return Forked{req}, ""
	}
	return NewForm("fork "+s.DisplayName()+" at "+at.Text, submit, what, agent, program, space, prompt, tree, name).Sending(prompt).Verb("fork")
}

// forkAgents makes the choice of the agent that a fork gets.
func forkAgents(s *thread.Status, at Point, agents []thread.AgentInfo) *Input {
	options := agentOptions(agents)
	agent := &Input{Label: "Agent", Options: options, Pick: pickOption(options, s.Agent)}
	if len(options) == 0 {
		agent.Options = []Option{{Value: s.Agent}}
	}
	for i := range agent.Options {
		o := &agent.Options[i]
		switch {
		case o.Off || s.Turn == 0:
		case o.Value == s.Agent && at.Inside:
			o.Note = "gets a summary: a conversation cannot be cut within a turn"
		case o.Value == s.Agent:
			o.Note = "" // the context says it
		default:
			o.Note = "gets a summary of the conversation so far"
		}
	}
	return agent
}
