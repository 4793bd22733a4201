// Package runner is the part of a form that says what runs in a thread: an agent, and which program where that is
// the agent that runs any.
package runner

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
)

// command is the agent that runs any program.
const command = "command"

// IsCommand reports whether an agent runs any program.
func IsCommand(agent string) bool { return agent == command }

// Inputs are the fields. The program's is hidden while another agent is chosen.
type Inputs struct{ Agent, Program *dialog.Input }

// New makes the fields with an agent chosen; note stands by it where the agents are not known yet.
func New(agents []thread.AgentInfo, agent, note string) Inputs {
	known := options(agents)
	pick := max(slices.IndexFunc(known, func(o dialog.Option) bool { return o.Value == agent }), 0)
	if len(known) == 0 {
		known = []dialog.Option{{Value: agent, Note: note}}
	}
	in := Inputs{
		Agent:   &dialog.Input{Label: "Agent", Options: known, Pick: pick},
		Program: &dialog.Input{Label: "Program", Hint: "program and its arguments"},
	}
	in.Program.Hidden = func() bool { return !in.Any() }
	return in
}

// Any reports whether the agent that runs any program is chosen.
func (in Inputs) Any() bool { return IsCommand(in.Agent.Choice()) }

// Refused says why the agent that is chosen cannot run, "" where it can.
func (in Inputs) Refused() string {
	if o := in.Agent.Options[in.Agent.Pick]; o.Off {
		return o.Value + ": " + o.Note
	}
	return ""
}

// Words returns the program and its arguments, nothing where the field is empty and there are others to take, or says
// what is wrong with it.
func (in Inputs) Words(others []string) ([]string, string) {
	words, ok := words(in.Program.Text.Value())
	switch {
	case !ok:
		return nil, "Program: a quotation mark is not closed"
	case len(words) == 0 && len(others) == 0:
		return nil, "Enter a program"
	}
	return words, ""
}

// options lists the agents: those found first, any other program after them.
func options(agents []thread.AgentInfo) []dialog.Option {
	var out []dialog.Option
	for want := range 3 {
		for _, a := range agents {
			if rank(a) == want {
				out = append(out, option(a))
			}
		}
	}
	return out
}

func rank(a thread.AgentInfo) int {
	switch {
	case !a.Found:
		return 2
	case a.Name == command:
		return 1
	default:
		return 0
	}
}

func option(a thread.AgentInfo) dialog.Option {
	o := dialog.Option{Value: a.Name, Note: a.Version, Off: !a.Found}
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

// First returns the agent to propose, "" when none is found.
func First(agents []thread.AgentInfo) string {
	if o := options(agents); len(o) > 0 && !o[0].Off {
		return o[0].Value
	}
	return ""
}
