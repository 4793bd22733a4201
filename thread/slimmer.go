package thread

import "context"

// Slimmer is an agent whose base can be made smaller by how it is started. Optional for an Agent.
type Slimmer interface {
	// Levers returns what can be left out of the agent that would be started there. It starts nothing but the program's
	// own answer for its version.
	Levers(ctx context.Context, spec WorldSpec) (Levers, error)
	// Surroundings names what in the environment and the settings there makes the base larger, and what to do about it.
	Surroundings(spec WorldSpec) []BaseWarning
	// BaseParts returns what the texts of a first request are. Those of the maker or the agent's developer message come as
	// BaseSystem, those in the person's place as BaseOther, and what the person said as BasePrompt. Together the parts have
	// all the texts, in their order; what is not known keeps its kind.
	BaseParts(texts []BaseText) []BaseText
	// Missing returns the names of the tools that an answer to a tool's call, or a text of the agent, says are not there:
	// "No such tool available: X".
	Missing(text string) []string
}
