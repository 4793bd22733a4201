package dialog

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/field"
	"orchestrator/ui/plain"
)

// NewThread is the result of the new-thread dialog.
type NewThread struct{ Request thread.NewRequest }

// Renamed is the result of the rename dialog.
type Renamed struct {
	ID   thread.ID
	Name string
}

// Abandoned is the result of the abandon dialog.
type Abandoned struct {
	ID     thread.ID
	Reason string
}

// Prompted is the result of the prompt dialog.
type Prompted struct {
	ID   thread.ID
	Text string
}

// Edited is the result of the dialog that changes a prompt.
type Edited struct {
	ID   thread.PromptID
	Text string
}

// DialogResult marks it.
func (Edited) DialogResult() {}

// DialogResult marks it.
func (NewThread) DialogResult() {}

// DialogResult marks it.
func (Renamed) DialogResult() {}

// DialogResult marks it.
func (Abandoned) DialogResult() {}

// DialogResult marks it.
func (Prompted) DialogResult() {}

// commandAgent is the agent that runs any program.
const commandAgent = "command"

// agentOptions lists the agents: those found first, any other program after them.
func agentOptions(agents []thread.AgentInfo) []Option {
	var out []Option
	for _, rank := range []int{0, 1, 2} {
		for _, a := range agents {
			if agentRank(a) == rank {
				out = append(out, agentOption(a))
			}
		}
	}
	return out
}

func agentRank(a thread.AgentInfo) int {
	switch {
	case !a.Found:
		return 2
	case a.Name == commandAgent:
		return 1
	default:
		return 0
	}
}

func agentOption(a thread.AgentInfo) Option {
	o := Option{Value: a.Name, Note: a.Version, Off: !a.Found}
	switch {
	case !a.Found || a.Problem != "":
		o.Note = strings.TrimSpace(a.Problem + ". " + a.Hint)
	case a.Path != "":
		o.Note = strings.TrimSpace(a.Version + " at " + a.Path)
	}
	if o.Note == "" {
		o.Note = "ready"
	}
	return o
}

// FirstAgent returns the agent to propose, "" when none is found.
func FirstAgent(agents []thread.AgentInfo) string {
	if o := agentOptions(agents); len(o) > 0 && !o[0].Off {
		return o[0].Value
	}
	return ""
}

func pickOption(options []Option, value string) int {
	for i, o := range options {
		if o.Value == value {
			return i
		}
	}
	return 0
}

// Defaults are what a new-thread dialog begins with.
type Defaults struct {
	Agent string
	Dir   string
	// Git is set where worktrees can be made, Taken names the threads that work in the folder.
	Git   bool
	Taken []string
	Flag  thread.Flags
}

// NewNewThread makes the dialog for a new thread.
func NewNewThread(agents []thread.AgentInfo, d Defaults) *Form {
	options := agentOptions(agents)
	agent := &Input{Label: "Agent", Options: options, Pick: pickOption(options, d.Agent)}
	if len(options) == 0 {
		agent.Options = []Option{{Value: d.Agent, Note: "looking for agents …"}}
	}
	prompt := &Input{Label: "Prompt", Hint: "Task (optional)", Rows: 3, Text: field.Field{Multi: true}}
	name := &Input{Label: "Name", Hint: "From the prompt (optional)"}
	dir := &Input{Label: "Folder", Hint: d.Dir}
	note := "works in the folder itself"
	if len(d.Taken) > 0 {
		note = "shares the folder with " + plain.Names(d.Taken)
	}
	if !d.Git {
		note = "needs a git repository"
	}
	tree := yesNo("Worktree", len(d.Taken) > 0, note)
	tree.Options[1].Note = "works in a git worktree and branch of its own"
	tree.Hidden = func() bool { return !d.Git }
	model := &Input{Label: "Model", Hint: "the agent's default"}
	mode := &Input{Label: "Permissions", Hint: "the agent's default"}
	program := programInput()
	isCommand := func() bool { return agent.Choice() == commandAgent }
	program.Hidden = func() bool { return !isCommand() }
	model.Hidden, mode.Hidden = isCommand, isCommand
	submit := func() (Result, string) {
		if o := agent.Options[agent.Pick]; o.Off {
			return nil, o.Value + ": " + o.Note
		}
		flags := d.Flag
		flags.PermissionMode = strings.TrimSpace(mode.Text.Value())
		if isCommand() {
			words, problem := programOf(program, nil)
			if problem != "" {
				return nil, problem
			}
			flags.Program = words
		}
		return NewThread{thread.NewRequest{
			Agent: agent.Choice(), Model: strings.TrimSpace(model.Text.Value()), Name: strings.TrimSpace(name.Text.Value()),
			Prompt: strings.TrimSpace(prompt.Text.Value()), Dir: strings.TrimSpace(dir.Text.Value()), Worktree: tree.on() && d.Git, InPlace: !tree.on(), Flags: flags,
		}}, ""
	}
	return NewForm("new thread", submit, agent, program, prompt, name, dir, tree, model, mode).Sending(prompt).Verb("create")
}

// one makes a form with a single text; empty is refused.
func one(title, label, hint, text, empty string, rows int, result func(string) Result) *Form {
	in := &Input{Label: label, Hint: hint, Text: field.Field{Multi: rows > 1}, Rows: rows}
	in.Text.Set(text)
	return NewForm(title, func() (Result, string) {
		v := strings.TrimSpace(in.Text.Value())
		if v == "" {
			return nil, empty
		}
		return result(v), ""
	}, in)
}

// NewRename makes the dialog that renames a thread.
func NewRename(s *thread.Status) *Form {
	return one("rename "+s.DisplayName(), "Name", "", s.DisplayName(), "Enter a name", 1,
		func(v string) Result { return Renamed{s.ID, v} }).Verb("rename")
}

// NewAbandon makes the dialog that abandons a thread.
func NewAbandon(s *thread.Status) *Form {
	return one("abandon "+s.DisplayName(), "Reason", "Why (kept with the thread)", "", "Enter a reason", 1,
		func(v string) Result { return Abandoned{s.ID, v} }).Verb("continue")
}

// NewPrompt makes the dialog that sends a prompt.
func NewPrompt(s *thread.Status) *Form {
	f := one("prompt for "+s.DisplayName(), "Prompt", "Task", "", "Enter a prompt", 4,
		func(v string) Result { return Prompted{s.ID, v} })
	return f.Sending(f.inputs[0]).Verb("send")
}

// NewEdit makes the dialog that changes a prompt which waits.
func NewEdit(p thread.Prompt, name string) *Form {
	f := one("edit a prompt for "+name, "Prompt", "", p.Text, "Enter a prompt, or withdraw this one", 6,
		func(v string) Result { return Edited{p.ID, v} })
	return f.Sending(f.inputs[0]).Verb("save")
}
