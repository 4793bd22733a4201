package demo

import (
	"orchestrator/agent/demo/program"
	"orchestrator/thread"
)

// lost has, by part of the demo's base, what a person no longer has without it, in which profiles that is so, what
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

// levers returns the parts of the demo's base that can be left out.
func levers() (all []thread.Lever) {
	says := lost()
	for _, p := range program.Parts() {
		lever := says[p.Name]
		lever.Name, lever.Tools = p.Name, p.Tools
		all = append(all, lever)
	}
	return all
}
