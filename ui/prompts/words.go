package prompts

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// cut reports whether a prompt's text is only an excerpt.
func cut(p thread.Prompt) bool { return strings.HasSuffix(p.Text, "…") }

// Unanswered returns lines about unanswered prompts.
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

// stateWords returns what became of a prompt.
func stateWords(p thread.Prompt) string {
	if p.Rewound {
		return string(p.State) + ", rewound since"
	}
	return string(p.State)
}

// fate returns when a prompt was given, and what became of it or what it waits for.
func fate(p thread.Prompt, of *thread.Status) string {
	at := p.Accepted.Local().Format("15:04:05")
	switch {
	case p.State == thread.PromptQueued && of != nil && of.State.State == thread.StateWorking:
		return "queued at " + at + ", goes after this turn"
	case p.State == thread.PromptQueued && p.Reason == "":
		return "queued at " + at
	case p.State == thread.PromptQueued:
		return "queued at " + at + ": " + p.Reason
	case p.Reason != "":
		return "sent at " + at + ", " + stateWords(p) + ": " + p.Reason
	}
	return "sent at " + at + ", " + stateWords(p)
}
