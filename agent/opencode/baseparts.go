package opencode

import (
	"strings"

	"orchestrator/agent/slim"
	"orchestrator/thread"
)

// seams are where parts of opencode's one text begin, in requests of 1.18.33.
func seams() []slim.Seam {
	const of = "Instructions from: "
	return []slim.Seam{
		{Begins: of, Kind: thread.BaseInstructions, Named: func(line string) string { return strings.TrimPrefix(line, of) }},
		{Begins: "You are powered by the model named ", Kind: thread.BaseEnvironment},
		{Begins: "Skills provide specialized instructions and workflows for specific tasks.", Kind: thread.BaseSkills},
	}
}

// BaseParts implements thread.Slimmer.
func (*Agent) BaseParts(texts []thread.BaseText) []thread.BaseText {
	var all []thread.BaseText
	for _, t := range texts {
		if t.Kind != thread.BaseSystem {
			all = append(all, t)
			continue
		}
		all = append(all, slim.Split(t, seams())...)
	}
	return all
}
