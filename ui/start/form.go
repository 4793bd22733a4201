package start

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"
	"orchestrator/ui/runner"

	tea "charm.land/bubbletea/v2"
)

// mostDigits is how many profiles have a digit.
const mostDigits = 9

// defaults are the initial values of the dialog.
type defaults struct {
	agent  string
	dir    string
	git    bool             // worktrees can be created
	taken  []string         // the threads that work in the folder
	recent []thread.Profile // how threads were started last, each agent once
	named  []thread.Profile
}

// How a thread runs: with a terminal, or without one, which takes a prompt.
const (
	inTerminal = "in a terminal"
	onceWrites = "once"
	onceReads  = "once, read-only"
)

// form is the dialog for a new thread.
type form struct {
	defaults
	profile, prompt, name, dir, tree, once, model, mode, mcp *dialog.Input
	runs                                                     runner.Inputs
	base                                                     *runner.Base
	// from is what the fields were filled with.
	from thread.Profile
}

// newForm returns the dialog for a new thread.
func newForm(agents []thread.AgentInfo, d defaults, create func(thread.NewRequest, thread.Profile) tea.Cmd) *dialog.Form {
	f := &form{
		defaults: d,
		runs:     runner.New(agents, d.agent, "Looking for agents …"),
		prompt:   &dialog.Input{Label: "Prompt", Hint: "Task (optional)", Rows: 3, Text: field.Field{Multi: true}},
		name:     &dialog.Input{Label: "Name", Hint: "From the prompt (optional)"},
		dir:      &dialog.Input{Label: "Folder", Hint: d.dir},
		once:     &dialog.Input{Label: "Runs", Options: []dialog.Option{{Value: inTerminal}, {Value: onceWrites}, {Value: onceReads}}},
		model:    &dialog.Input{Label: "Model", Hint: "the agent's default"},
		mode:     &dialog.Input{Label: "Permissions", Hint: "the agent's default"},
		mcp:      &dialog.Input{Label: "MCP servers", Hint: "as configured; names switch on more"},
	}
	note := "work in the folder itself"
	if len(d.taken) > 0 {
		note = "share the folder with " + plain.Names(d.taken)
	}
	if !d.git {
		note = "needs a git repository"
	}
	f.tree = dialog.YesNo("Worktree", false, note)
	f.tree.Options[1].Note = "work in a separate worktree and branch"
	f.tree.Hidden = func() bool { return !d.git }
	f.model.Hidden, f.mode.Hidden, f.mcp.Hidden = f.runs.Any, f.runs.Any, f.runs.Any
	f.base = runner.NewBase(agents, d.agent, func(a thread.AgentInfo) dialog.Option {
		return dialog.Option{Value: "as configured", Note: runner.Says(a, a.Base)}
	})
	f.profile = f.profiles()
	f.runs.Agent.Picked = f.agentPicked
	f.fill(f.last(d.agent))
	submit := func() (dialog.Result, string) {
		req, problem := f.request()
		if problem != "" {
			return nil, problem
		}
		as := f.choice()
		return host.Do(func() tea.Cmd { return create(req, as) }), ""
	}
	return dialog.NewForm("new thread", submit, f.profile, f.runs.Agent, f.runs.Program, f.prompt, f.name, f.dir, f.tree,
		f.model, f.mode, f.mcp, f.once, f.base.Input).Verb("create").Digits(f.digit)
}

// profiles returns the field with the profiles, after the one for none. It is hidden if there are none.
func (f *form) profiles() *dialog.Input {
	in := &dialog.Input{Label: "Profile", Options: []dialog.Option{{Value: "last", Note: "as the last thread"}},
		Hidden: func() bool { return len(f.named) == 0 }}
	for i, p := range f.named {
		o := dialog.Option{Value: p.Name, Note: p.Summary()}
		if i < mostDigits {
			o.Value = fmt.Sprintf("%d %s", i+1, p.Name)
		}
		in.Options = append(in.Options, o)
	}
	if len(f.named) > 0 {
		in.Options[0].Note = "as the last thread; a digit starts a profile"
	}
	in.Picked = func() {
		if in.Pick > 0 {
			f.use(f.named[in.Pick-1])
		} else {
			f.use(f.last(f.agent))
		}
	}
	return in
}

// digit starts the profile of a digit.
func (f *form) digit(n int) (words string, choose func()) {
	if n > min(len(f.named), mostDigits) {
		return "", nil
	}
	p := f.named[n-1]
	return "starts “" + p.Name + "”", func() {
		f.profile.Pick = n
		f.use(p)
	}
}

// last returns how a thread with an agent was started last.
func (f *form) last(agent string) thread.Profile {
	for _, p := range f.recent {
		if p.Agent == agent {
			return p
		}
	}
	return thread.Profile{Agent: agent}
}

// use has the fields say what a profile does.
func (f *form) use(p thread.Profile) {
	i := slices.IndexFunc(f.runs.Agent.Options, func(o dialog.Option) bool { return o.Value == p.Agent })
	if i < 0 { // not known, or not yet: the server says what is wrong
		f.runs.Agent.Options = append(f.runs.Agent.Options, dialog.Option{Value: p.Agent})
		i = len(f.runs.Agent.Options) - 1
	}
	f.runs.Agent.Pick = i
	f.fill(p)
}

// fill fills the fields below the agent.
func (f *form) fill(p thread.Profile) {
	f.from = p
	f.model.Text, f.mode.Text, f.mcp.Text = field.New(p.Model), field.New(p.PermissionMode), field.New(strings.Join(p.MCP, " "))
	f.tree.Pick = f.apart(p)
	f.base.For(p.Agent)
	f.base.Choose(p.Base)
}

// apart is the choice of a worktree that a profile means: 1 is one of its own.
func (f *form) apart(p thread.Profile) int {
	if p.Apart == thread.ApartYes || p.Apart == thread.ApartAuto && len(f.taken) > 0 {
		return 1
	}
	return 0
}

// agentPicked fills the fields as this agent was started last, unless the person has changed them.
func (f *form) agentPicked() {
	now := f.choice()
	f.base.For(now.Agent)
	if now.Base == f.from.Base && now.Model == f.from.Model && now.PermissionMode == f.from.PermissionMode && slices.Equal(now.MCP, f.from.MCP) {
		f.profile.Pick = 0
		f.fill(f.last(f.runs.Agent.Choice()))
	}
}

// choice is how the fields say that a thread is started.
func (f *form) choice() thread.Profile {
	p := thread.Profile{Agent: f.runs.Agent.Choice(), Apart: f.from.Apart, Base: f.base.Choice()}
	if f.tree.Pick != f.apart(f.from) {
		p.Apart = thread.ApartNo
		if f.tree.On() {
			p.Apart = thread.ApartYes
		}
	}
	if !f.runs.Any() {
		p.Model, p.PermissionMode = strings.TrimSpace(f.model.Text.Value()), strings.TrimSpace(f.mode.Text.Value())
		p.MCP = strings.FieldsFunc(f.mcp.Text.Value(), func(r rune) bool { return r == ',' || r == ' ' })
	}
	return p
}

// request is what the fields ask for, or what is wrong with them.
func (f *form) request() (r thread.NewRequest, problem string) {
	if problem := f.runs.Refused(); problem != "" {
		return r, problem
	}
	p := f.choice()
	r = thread.NewRequest{
		Agent: p.Agent, Model: p.Model, MCP: p.MCP, Base: p.Base, Name: strings.TrimSpace(f.name.Text.Value()),
		Prompt: strings.TrimSpace(f.prompt.Text.Value()), Dir: strings.TrimSpace(f.dir.Text.Value()),
		Worktree: f.tree.On() && f.git, InPlace: !f.tree.On(), Flags: thread.Flags{PermissionMode: p.PermissionMode},
	}
	if r.Once.On = f.once.Choice() != inTerminal; r.Once.On {
		if r.Once.ReadOnly = f.once.Choice() == onceReads; r.Prompt == "" {
			return r, "A thread that runs once needs a prompt"
		}
	}
	var args []string
	if f.from.Agent == p.Agent {
		args = f.from.Args
	}
	if !f.runs.Any() {
		r.Flags.Args = args
		return r, ""
	}
	words, problem := f.runs.Words(args)
	if r.Flags.Program = words; len(words) == 0 {
		r.Flags.Program = args
	}
	return r, problem
}
