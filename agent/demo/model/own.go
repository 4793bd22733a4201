package model

import (
	"strings"

	"orchestrator/thread/pattern"
)

var (
	fenced = pattern.Lazy("(?s)<handed-over\\b.*?(?:</handed-over\\b[^>]*>|$)|```.*?(?:```|$)|`[^`\n]*`")
	listed = pattern.Lazy(`(?m)^[ \t]*(?:>|[-*•]|\d+[.)])[ \t].*$`)
)

// handoff begins a summary that orchestrator writes for an agent that takes over a conversation; its last section, with
// what the agent is to do, begins with handoffNow and is one paragraph.
const (
	handoff    = "# Handoff\n"
	handoffNow = "\n## Now\n\n"
)

// isHandoff reports whether a prompt is or begins with a handoff.
func isHandoff(prompt string) bool { return strings.HasPrefix(strings.TrimSpace(prompt), handoff) }

// limits is the element in which orchestrator tells a run its bounds, after the prompt.
const limits = "\n<run-limits>\n"

// task returns the words of a prompt that ask for something: what a handoff quotes does not.
func task(prompt string) string {
	prompt, _, _ = strings.Cut(prompt, limits)
	if !isHandoff(prompt) {
		return prompt
	}
	at := strings.LastIndex(prompt, handoffNow)
	if at < 0 {
		return ""
	}
	_, rest, _ := strings.Cut(prompt[at+len(handoffNow):], "\n\n")
	return rest
}
