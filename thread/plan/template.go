package plan

import (
	"fmt"
	"strings"

	"orchestrator/thread"
)

// The names that fields of a template begin with, beside those of agents. No agent has one of them.
const (
	fieldTask = "task"
	fieldVar  = "var"
)

// field is a place of a template: {{vision.data.top_keywords}}.
type field struct {
	root string
	path []string // after the root
	line int      // where it is in the template, from 1
}

// String returns it as it is written, without what a terminal would obey.
func (f field) String() string {
	return "{{" + excerpt(strings.Join(append([]string{f.root}, f.path...), ".")) + "}}"
}

// chunk is a part of a template: text as it stands, or a field.
type chunk struct {
	text  string
	field *field
}

// The bounds of a template beside MaxPrompt.
const (
	maxFields = 1000
	maxField  = 500 // bytes
)

// parse reads a template: {{NAME.field}} is a field, all else stands as it is. {{"{{"}} is two braces. What is put into a
// field is never read as a template again.
func parse(template string) ([]chunk, error) {
	var pieces []chunk
	line, fields := 1, 0
	for {
		text, rest, found := strings.Cut(template, "{{")
		if text != "" {
			pieces = append(pieces, chunk{text: text})
			line += strings.Count(text, "\n")
		}
		if !found {
			return pieces, nil
		}
		if literal, ok := strings.CutPrefix(rest, `"{{"}}`); ok {
			pieces, template = append(pieces, chunk{text: "{{"}), literal
			continue
		}
		if fields++; fields > maxFields {
			return nil, thread.Kindf(thread.ErrInvalid, "the prompt has more than %d fields", maxFields)
		}
		name, after, closed := strings.Cut(rest, "}}")
		if !closed || len(name) > maxField || strings.ContainsAny(name, "\n{") {
			return nil, thread.Kindf(thread.ErrInvalid, "the field in line %d has no end: close it with }}, or write {{\"{{\"}} where two braces are meant", line)
		}
		parts := strings.Split(strings.TrimSpace(name), ".")
		for i, part := range parts {
			if parts[i] = strings.TrimSpace(part); parts[i] == "" {
				return nil, thread.Kindf(thread.ErrInvalid, "the field {{%s}} in line %d is none: write it like {{task}} or {{agent.data.key}}, and {{\"{{\"}} where two braces are meant", excerpt(name), line)
			}
		}
		pieces = append(pieces, chunk{field: &field{root: parts[0], path: parts[1:], line: line}})
		template = after
	}
}

// fault says what is wrong with a field by what it names alone; "" for nothing.
func (f field) fault() string {
	switch {
	case f.root == fieldTask:
		if len(f.path) > 1 || len(f.path) == 1 && f.path[0] != "title" && f.path[0] != "body" {
			return "a task has {{task}}, {{task.title}} and {{task.body}} only"
		}
	case f.root == fieldVar:
		if len(f.path) != 1 {
			return "a variable is written {{var.NAME}}"
		}
	case len(f.path) == 0:
	case f.path[0] == "data":
	case f.path[0] == "summary", f.path[0] == "files":
		if len(f.path) > 1 {
			return fmt.Sprintf("{{%s.%s}} has no fields of its own", excerpt(f.root), f.path[0])
		}
	default:
		return fmt.Sprintf("what an agent hands over has .summary, .data and .files: write {{%s.data.%s}} for a field of its data",
			excerpt(f.root), excerpt(strings.Join(f.path, ".")))
	}
	return ""
}
