package prompts

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// cut reports whether a prompt came as an excerpt.
func cut(p thread.Prompt) bool { return strings.HasSuffix(p.Text, "…") }

// Unanswered are the lines about what a thread was asked and has not answered.
func Unanswered(prompts []thread.Prompt) []dialog.Line {
	var out []dialog.Line
	for _, p := range prompts {
		text := string(p.State)
		if p.Reason != "" {
			text += " (" + p.Reason + ")"
		}
		out = append(out, dialog.Line{Text: text + ": " + plain.Excerpt(p.Text, 120), Tok: theme.Warn})
	}
	return out
}
