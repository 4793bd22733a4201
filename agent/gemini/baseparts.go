package gemini

import (
	"strings"

	"orchestrator/agent/slim"
	"orchestrator/thread"
)

// seams are where parts of Gemini CLI's texts begin, in requests of 0.61.0.
func seams() []slim.Seam {
	const of = "--- Context from: "
	file := slim.Seam{
		Begins: of, Kind: thread.BaseInstructions, Ends: "--- End of Context from: %s ---",
		Named: func(line string) string { return strings.TrimSuffix(strings.TrimPrefix(line, of), " ---") },
	}
	return []slim.Seam{
		file,
		{Begins: "# Available Sub-Agents", Kind: thread.BaseAgents, Headed: true},
		{Begins: "# Available Agent Skills", Kind: thread.BaseSkills, Headed: true},
		{Begins: "<session_context>", Kind: thread.BaseEnvironment},
	}
}

// BaseParts implements thread.Slimmer.
func (*Agent) BaseParts(texts []thread.BaseText) []thread.BaseText {
	var all []thread.BaseText
	for _, t := range texts {
		switch {
		case t.Kind == thread.BaseSystem,
			(t.Kind == thread.BaseOther || t.Kind == thread.BasePrompt) && strings.HasPrefix(t.Text, "<session_context>"):
			all = append(all, slim.Split(t, seams())...)
		default:
			all = append(all, t)
		}
	}
	return all
}
