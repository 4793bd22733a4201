package policy

import (
	"path"
	"strings"

	"orchestrator/thread"
)

// Rule is a person's rule for the results and inputs of some tools. It only ever keeps more than the settings do.
type Rule struct {
	// Tool is the name of a tool, whatever its case; * stands for any text, as in "mcp__github__*".
	Tool string
	// Keep is set if they are never masked.
	Keep bool
	// MinTokens is the size in tokens below which they are never masked.
	MinTokens int64
	// KeepLast is how many of the newest results of the rule's tools are not masked until the window is almost full.
	KeepLast int
}

// Valid reports whether the name of a rule's tool can be matched.
func (r Rule) Valid() bool {
	_, err := path.Match(r.Tool, "")
	return err == nil && strings.TrimSpace(r.Tool) != ""
}

// Matches reports whether a rule is for a tool.
func (r Rule) Matches(tool string) bool {
	return thread.ContextRule{Tool: r.Tool}.Matches(tool)
}
