package claude

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// seam is where a part of a text of Claude Code's begins; the texts are from requests of 2.1.330.
type seam struct {
	begins string
	kind   thread.BaseKind
	name   string
}

func seams() []seam {
	return []seam{
		{"x-anthropic-billing-header:", thread.BaseOther, "billing header"},
		{"# Memory\n", thread.BaseSystem, "its own notes"},
		{"# auto memory\n", thread.BaseSystem, "its own notes"},
		{"# Environment\n", thread.BaseEnvironment, ""},
		{"# Harness\n", thread.BaseSystem, ""},
		{"# Context management\n", thread.BaseSystem, ""},
		{"# Session-specific guidance\n", thread.BaseSystem, ""},
		{"# MCP Server Instructions\n", thread.BaseMCP, ""},
		{"As you answer the user's questions, you can use the following context:\n# gitStatus\n", thread.BaseEnvironment, "git"},
		{"gitStatus: ", thread.BaseEnvironment, "git"},
		{"Attribution for git commits", thread.BaseEnvironment, "git"},
		{"The following deferred tools are ", thread.BaseDeferred, ""},
		{"Available agent types for the Agent tool", thread.BaseAgents, ""},
		{"Available agent types", thread.BaseAgents, ""},
		{"The following skills are available", thread.BaseSkills, ""},
		{"Today's date is ", thread.BaseEnvironment, ""},
		{"# currentDate\n", thread.BaseEnvironment, ""},
	}
}

// mode matches the line before what Claude Code says of a permission mode.
var mode = pattern.Lazy(`^While [\w -]+ mode is active:`)

// instructions is how the text with the person's files of instructions begins, behind its mark.
const instructions = "Codebase and user instructions are shown below."

// fileOf matches the line before the text of a file of instructions.
var fileOf = pattern.Lazy(`(?m)^Contents of (/.+?) \((?:project|user|private|managed|org|local|auto)[^\n]*\):$`)

// mark is what Claude Code puts around what it adds to a message.
const mark = "<system-reminder>\n"

// BaseParts implements thread.Slimmer.
func (*Agent) BaseParts(texts []thread.BaseText) []thread.BaseText {
	var all []thread.BaseText
	for _, t := range texts {
		switch {
		case t.Kind != thread.BaseSystem && t.Kind != thread.BaseOther:
			all = append(all, t)
		case strings.HasPrefix(strings.TrimPrefix(t.Text, mark), instructions):
			all = append(all, byFile(t)...)
		default:
			all = append(all, parts(t)...)
		}
	}
	return all
}

// byFile divides the text with files of instructions.
func byFile(t thread.BaseText) []thread.BaseText {
	at := fileOf().FindAllStringSubmatchIndex(t.Text, -1)
	if len(at) == 0 {
		return []thread.BaseText{{Kind: thread.BaseInstructions, Text: t.Text}}
	}
	all := []thread.BaseText{{Kind: t.Kind, Text: t.Text[:at[0][0]]}}
	for i, m := range at {
		end := len(t.Text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all = append(all, thread.BaseText{Kind: thread.BaseInstructions, Name: t.Text[m[2]:m[3]], Text: t.Text[m[0]:end]})
	}
	return all
}

// parts divides a text of Claude Code's own where a line begins a part.
func parts(t thread.BaseText) []thread.BaseText {
	var all []thread.BaseText
	kind, name, from := t.Kind, t.Name, 0
	cut := func(at int, next seam) {
		if at > from {
			all = append(all, thread.BaseText{Kind: kind, Name: name, Text: t.Text[from:at]})
		}
		kind, name, from = next.kind, next.name, at
	}
	for at := 0; at < len(t.Text); {
		line := t.Text[at:]
		behind := strings.TrimPrefix(line, mark)
		if s, ok := seamAt(behind); ok {
			cut(at, s)
			at, line = at+len(line)-len(behind), behind
		} else if t.Kind == thread.BaseSystem && kind != t.Kind && strings.HasPrefix(line, "# ") {
			cut(at, seam{"", t.Kind, t.Name}) // an unknown heading ends what is known
		}
		end := strings.IndexByte(line, '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	cut(len(t.Text), seam{})
	return all
}

func seamAt(line string) (seam, bool) {
	for _, s := range seams() {
		if strings.HasPrefix(line, s.begins) {
			return s, true
		}
	}
	return seam{"", thread.BaseEnvironment, "permission mode"}, mode().MatchString(line)
}
