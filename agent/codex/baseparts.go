package codex

import (
	"path/filepath"
	"strings"

	"orchestrator/agent/slim"
	"orchestrator/thread"
)

// The lines around the files of instructions, which Codex joins to one text.
const (
	filesOf = "# AGENTS.md instructions for "
	project = "--- project-doc ---"
)

// seams are where parts of Codex's texts begin, in requests of 0.169.0.
func seams() []slim.Seam {
	return []slim.Seam{
		{Begins: "<skills_instructions>", Kind: thread.BaseSkills, Ends: "</skills_instructions>"},
		{Begins: "<permissions instructions>", Kind: thread.BaseEnvironment, Name: "permissions", Ends: "</permissions instructions>"},
		{Begins: "<collaboration_mode>", Kind: thread.BaseEnvironment, Name: "mode", Ends: "</collaboration_mode>"},
		{Begins: "<environment_context>", Kind: thread.BaseEnvironment, Ends: "</environment_context>"},
		{Begins: "<multi_agent_role>", Kind: thread.BaseAgents, Ends: "</multi_agent_role>"},
		{Begins: "<multi_agent_mode>", Kind: thread.BaseAgents, Ends: "</multi_agent_mode>"},
		{Begins: "<tools>", Kind: thread.BaseDeferred, Ends: "</tools>"},
		{Begins: "<apps_instructions>", Kind: thread.BaseMCP, Name: "apps", Ends: "</apps_instructions>"},
		{Begins: "<plugins_instructions>", Kind: thread.BaseSkills, Name: "plugins", Ends: "</plugins_instructions>"},
	}
}

// BaseParts implements thread.Slimmer.
func (a *Agent) BaseParts(texts []thread.BaseText) []thread.BaseText {
	var all []thread.BaseText
	for _, t := range texts {
		switch {
		case t.Kind != thread.BaseSystem && t.Kind != thread.BaseOther && t.Kind != thread.BasePrompt:
			all = append(all, t)
		case strings.HasPrefix(t.Text, filesOf):
			all = append(all, a.files(t)...)
		case strings.HasPrefix(t.Text, "<"):
			all = append(all, slim.Split(t, seams())...)
		default: // the maker's prompt, or the person's: what may stand in it means nothing
			all = append(all, t)
		}
	}
	return all
}

// files divides the text with the files of instructions: the person's own, and those of the folder and above it.
func (a *Agent) files(t thread.BaseText) []thread.BaseText {
	first, _, _ := strings.Cut(t.Text, "\n")
	dir := strings.TrimPrefix(first, filesOf)
	name := filepath.Join(dir, "AGENTS.md")
	var all []thread.BaseText
	rest := t.Text
	if i := strings.Index(t.Text, "\n"+project); i >= 0 {
		all = append(all, thread.BaseText{
			Kind: thread.BaseInstructions, Name: filepath.Join(home(a.env), "AGENTS.md"), Text: t.Text[:i+1],
		})
		rest = t.Text[i+1:]
	}
	const end = "</INSTRUCTIONS>\n"
	if i := strings.Index(rest, end); i >= 0 && i+len(end) < len(rest) { // what follows is another part
		all = append(all, thread.BaseText{Kind: thread.BaseInstructions, Name: name, Text: rest[:i+len(end)]})
		return append(all, slim.Split(thread.BaseText{Kind: t.Kind, Text: rest[i+len(end):]}, seams())...)
	}
	return append(all, thread.BaseText{Kind: thread.BaseInstructions, Name: name, Text: rest})
}
