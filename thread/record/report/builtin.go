package report

import _ "embed" // the templates

// The built-in templates.
const (
	Synthesis = "synthesis-report.tmpl" // all that is recorded, by subject
	Log       = "markdown-log.tmpl"     // in the order in which it happened
)

//go:embed synthesis-report.tmpl
var synthesis string

//go:embed markdown-log.tmpl
var markdownLog string

// Builtin returns the text of a built-in template.
func Builtin(name string) (text string, known bool) {
	switch name {
	case Synthesis:
		return synthesis, true
	case Log:
		return markdownLog, true
	default:
		return "", false
	}
}
