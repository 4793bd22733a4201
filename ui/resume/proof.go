package resume

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Proof describes what a resume is based on.
func Proof(p *thread.ResumeProof) (string, theme.Token) {
	if p == nil {
		return "not checked yet", theme.Muted
	}
	var how string
	tok := theme.Text
	switch p.How {
	case thread.ResumeNative:
		how = "transcript found"
	case thread.ResumeRebuilt:
		how = "transcript rebuilt from the stored conversation"
	case thread.ResumePrimer:
		how, tok = "from a summary of the stored conversation", theme.Warn
	case thread.ResumeFresh:
		how, tok = "no conversation yet", theme.Muted
	default:
		how, tok = string(p.How), theme.Warn
	}
	switch {
	case p.Detail != "":
		how = plain.Line(p.Detail) // says the same, in more detail
	case p.Bytes > 0 && p.How == thread.ResumeNative:
		how = "✓ verified (" + thread.Bytes(p.Bytes) + ")"
	case p.Bytes > 0:
		how += ", " + thread.Bytes(p.Bytes) + " verified"
	}
	switch {
	case p.Worktree == "clean" || strings.HasSuffix(p.Worktree, " changed"):
		how += " · " + plain.Line(p.Worktree)
	case p.Worktree != "":
		how += " · worktree: " + plain.Line(p.Worktree)
	}
	if n := len(p.Prompts); n > 0 {
		how += " · unanswered: " + plain.Excerpt(p.Prompts[n-1].Text, 60)
		if n > 1 {
			how += fmt.Sprintf(" and %d more", n-1)
		}
	}
	if p.Incomplete != "" {
		how, tok = how+" · incomplete: "+plain.Line(p.Incomplete), theme.Warn
	}
	return how, tok
}
