package resume

import (
	"fmt"

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
		how = "transcript verified (" + bytes(p.Bytes) + ")"
	case p.Bytes > 0:
		how += ", " + bytes(p.Bytes) + " verified"
	}
	if p.Worktree != "" {
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

// bytes formats a size with thousands separators.
func bytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return plain.Thousands(int(n)) + " bytes"
}
