package program

import "slices"

// Part is a part of what the demo agent sends before a word is said that can be left out, by --leave-out.
type Part struct {
	Name  string
	Tools []string
	// Text is what it adds to the instructions.
	Text string
}

// Parts returns them.
func Parts() []Part {
	return []Part{
		{Name: "todos", Tools: []string{"write_todos"}},
		{Name: "tips", Text: tips},
		{Name: "questions", Tools: []string{"ask_person"}},
		{Name: "editing", Tools: []string{"write_file", "edit_file"}},
		{Name: "shell", Tools: []string{"run_command"}},
	}
}

func partNames() (names []string) {
	for _, p := range Parts() {
		names = append(names, p.Name)
	}
	return names
}

// tips are the part of the instructions that can be left out.
const tips = ` When the person does not know what to ask for, tell them that they can type help. ` +
	`Keep answers short: a line or two, then what the tool returned, and no more of it than they need. ` +
	`Name files by their paths, in backquotes, so that they can be copied.`

// base is what is sent before a word is said: all of it but the parts that are left out.
type base struct{ without []string }

// system returns the model's instructions.
func (b base) system() string {
	text := system
	for _, p := range Parts() {
		if !slices.Contains(b.without, p.Name) {
			text += p.Text
		}
	}
	return text
}

// offers reports whether a tool is offered.
func (b base) offers(tool string) bool {
	return !slices.ContainsFunc(Parts(), func(p Part) bool {
		return slices.Contains(p.Tools, tool) && slices.Contains(b.without, p.Name)
	})
}

// tools returns the tools that are offered.
func (b base) tools() []definition {
	return slices.DeleteFunc(slices.Clone(definitions), func(d definition) bool { return !b.offers(d.Name) })
}
