package plan

import "encoding/json"

// SingleAgent is the variable of Single that names what works.
const SingleAgent = "agent"

// Single is the plan of a task that has none: one agent that does all of it. One that writes does so in a worktree of its own.
func Single(a Agent, writes bool) Plan {
	a.Name, a.Output = "work", OutputText
	if writes {
		a.Writes = []string{"**"}
	}
	if a.Prompt == "" {
		a.Prompt = "{{task}}\n"
	}
	return Plan{
		Name: "single", Description: "One agent does all of a task.", Agents: []Agent{a},
		Variables: map[string]Variable{SingleAgent: {Default: json.RawMessage(`""`), Description: "what works on it"}},
	}
}
