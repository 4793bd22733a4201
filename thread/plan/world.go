package plan

import (
	"encoding/json"

	"orchestrator/thread/work"
)

// World is what is known where a plan is to run. What is nil in it is not known, and not checked.
type World struct {
	// Agents are the agents that there are, and Default the one that works where a plan names none.
	Agents  map[string]Ability
	Default string
	Models  work.Models // of the tiers
	// Apart reports whether agents that write get worktrees of their own: where the project is a repository.
	Apart bool
	// Checks are the names of the project's [checks].
	Checks  []string
	Schemas Schemas
	// Labels are those of the machines that there are.
	Labels []string
}

// Ability is what an agent can.
type Ability struct {
	// Program is set for the agent that is any program: a plan names that, and it cannot be kept from writing.
	Program bool
}

// Schemas checks JSON against schemas.
type Schemas interface {
	// Check says what of a value does not meet a schema, for the agent that wrote it; nil for nothing.
	Check(schema, value json.RawMessage) error
	// Schema says what is wrong with a schema; nil for nothing.
	Schema(schema json.RawMessage) error
}
