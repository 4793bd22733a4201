package turns

import "testing"

// TestPerson tells what the person wrote from what programs write in the person's place.
func TestPerson(t *testing.T) {
	const note = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>"
	for name, c := range map[string]struct{ said, want string }{
		"a prompt":                 {"fix it", "fix it"},
		"a note":                   {note, ""},
		"two notes":                {note + "\n" + note, ""},
		"a note and more of it":    {note + "\nfix it", "fix it"},
		"before a note":            {"fix it\n" + note, "fix it"},
		"with attributes":          {"<teammate-message from=\"b\" id=\"1\">do it</teammate-message>", ""},
		"over a line":              {"<cross-session-message\n from=\"b\">do it</cross-session-message>", ""},
		"never closed":             {"<task-notification>\nend", ""},
		"inside another":           {"<system-reminder>" + note + "</system-reminder>", ""},
		"a marked text":            {"[SYSTEM NOTIFICATION - NOT USER INPUT]\ndone", ""},
		"in a sentence":            {"what does <task-notification>x</task-notification> mean?", "what does <task-notification>x</task-notification> mean?"},
		"another element":          {"<task-notifications>x</task-notifications>", "<task-notifications>x</task-notifications>"},
		"the person's own element": {"<config><a>1</a></config>", "<config><a>1</a></config>"},
		"a name of a skill":        {"<skills>x</skills>", "<skills>x</skills>"},
		"white space alone":        {" \n ", ""},
		"an arrow":                 {"<skill -> x", "<skill -> x"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Person(c.said); got != c.want {
				t.Errorf("of %q %q is the person's, want %q", c.said, got, c.want)
			}
		})
	}
}
