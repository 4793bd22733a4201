package demo

import (
	"context"

	"orchestrator/agent/demo/program"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// lost says of the parts of the demo's base what a person no longer has without them, in which profiles that is so, what
// asks for them, and about how many tokens each has.
func lost() map[string]thread.Lever {
	return map[string]thread.Lever{
		"todos": {Lost: "to-do lists (todo: …)", Words: []string{"todo:", "todos:", "to-do:"}, Saves: 45,
			Profiles: []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal}},
		"tips": {Lost: "its advice to itself to answer briefly", Saves: 65,
			Profiles: []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal}},
		"questions": {Lost: "questions with choices", Words: []string{"ask me", "ask:"}, Saves: 60, Profiles: []string{thread.BaseMinimal}},
		"editing":   {Lost: "writing and changing files", Saves: 100, Profiles: []string{thread.BaseReadOnly}},
		"shell":     {Lost: "commands of the shell", Saves: 50, Profiles: []string{thread.BaseReadOnly}},
	}
}

// Levers implements thread.Slimmer: the program is built in, so that all that it has is known.
func (a *Agent) Levers(ctx context.Context, _ thread.WorldSpec) (thread.Levers, error) {
	l := thread.Levers{Agent: Name, Version: a.Detect(ctx).Version, Known: true}
	says := lost()
	for _, p := range program.Parts() {
		lever := says[p.Name]
		lever.Name, lever.Tools = p.Name, p.Tools
		l.Levers = append(l.Levers, lever)
	}
	return l, nil
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
