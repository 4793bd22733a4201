package demo

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// Levers implements thread.Slimmer: the program is built in, so that all that it has is known.
func (a *Agent) Levers(ctx context.Context, _ thread.WorldSpec) (thread.Levers, error) {
	return thread.Levers{Agent: Name, Version: a.Detect(ctx).Version, Known: true, Levers: levers()}, nil
}

// Surroundings implements thread.Slimmer: nothing around it makes its base larger.
func (*Agent) Surroundings(thread.WorldSpec) []thread.BaseWarning { return nil }

// BaseParts implements thread.Slimmer: it has instructions and tools, and what the person says.
func (*Agent) BaseParts(texts []thread.BaseText) []thread.BaseText { return texts }

// missing matches the result of a call to a tool that there is not.
var missing = pattern.Lazy(`there is no tool "([\w.-]+)"`)

// Missing implements thread.Slimmer.
func (*Agent) Missing(text string) (tools []string) {
	for _, m := range missing().FindAllStringSubmatch(text, -1) {
		tools = append(tools, m[1])
	}
	return tools
}
