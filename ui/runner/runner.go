// Package runner is the part of a form that chooses what runs in a thread: an agent and, for the agent `command`,
// its program.
package runner

import (
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
)

// command is the agent that runs any program.
const command = "command"

// IsCommand reports whether an agent is the one that runs any program.
func IsCommand(agent string) bool { return agent == command }

// RunsLines reports whether an agent's program may run what is typed into it, as far as the agents are known.
func RunsLines(agents []thread.AgentInfo, agent string) bool {
	i := slices.IndexFunc(agents, func(a thread.AgentInfo) bool { return a.Name == agent })
	return i >= 0 && agents[i].RunsLines
}

// Inputs are the fields. Program is hidden unless the agent runs any program.
type Inputs struct{ Agent, Program *dialog.Input }

// New returns the fields with an agent selected; note is shown with it until the agents are known.
func New(agents []thread.AgentInfo, agent, note string) Inputs {
	known := options(agents)
	pick := max(slices.IndexFunc(known, func(o dialog.Option) bool { return o.Value == agent }), 0)
	if len(known) == 0 {
		known = []dialog.Option{{Value: agent, Note: note}}
	}
	in := Inputs{
		Agent:   &dialog.Input{Label: "Agent", Options: known, Pick: pick},
		Program: &dialog.Input{Label: "Program", Hint: "Program and arguments"},
	}
	in.Program.Hidden = func() bool { return !in.Any() }
	return in
}

// Any reports whether the selected agent is the one that runs any program.
func (in Inputs) Any() bool { return IsCommand(in.Agent.Choice()) }

// Refused returns why the selected agent cannot run, or "" if it can.
func (in Inputs) Refused() string {
	if o := in.Agent.Options[in.Agent.Pick]; o.Off {
		return o.Value + ": " + o.Note
	}
	return ""
}

// Words returns the program and its arguments, or what is wrong with them. An empty field is fine if there are others
// to fall back on.
func (in Inputs) Words(others []string) ([]string, string) {
	words, ok := words(in.Program.Text.Value())
	switch {
	case !ok:
		return nil, "Program: missing closing quote"
	case len(words) == 0 && len(others) == 0:
		return nil, "Enter a program"
	}
	return words, ""
}

// options lists the agents: those found first, then the one for any program, then the others.
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
	case a.Path != "" && a.Name != "demo": // which is this program
		o.Note = strings.TrimSpace(a.Version + " at " + a.Path)
	}
	if o.Note == "" {
		o.Note = "ready"
	}
	return o
}

// Found reports whether an agent can be started, as far as the agents are known.
func Found(agents []thread.AgentInfo, agent string) bool {
	return len(agents) == 0 || slices.ContainsFunc(agents, func(a thread.AgentInfo) bool { return a.Name == agent && a.Found })
}

// First returns the agent to preselect, or "" if none was found.
func First(agents []thread.AgentInfo) string {
	if o := options(agents); len(o) > 0 && !o[0].Off {
		return o[0].Value
	}
	return ""
}
