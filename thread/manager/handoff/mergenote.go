package handoff

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// MergeNote is the note on the merge of a thread for the target's agent. The fork's own words are quoted: answer is its
// last one.
func MergeNote(t thread.Thread, report thread.MergeReport, answer string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "For your information: thread %q", t.Name)
	if t.Label != "" {
		fmt.Fprintf(&b, " (%s)", plaintext.OneLine(t.Label, 200))
	}
	fmt.Fprintf(&b, " was merged into your branch %s", report.Into)
	if report.Commit != "" {
		fmt.Fprintf(&b, " as commit %s", report.Commit[:min(12, len(report.Commit))])
	}
	b.WriteString(".\n")
	if len(report.Files) > 0 {
		b.WriteString("\nFiles:\n")
		for i, f := range report.Files {
			if i == 30 {
				fmt.Fprintf(&b, "- … and %d more\n", len(report.Files)-i)
				break
			}
			fmt.Fprintf(&b, "- %s (%s, +%d −%d)\n", plaintext.OneLine(f.Path, 200), f.Status, f.Insertions, f.Deletions)
		}
	}
	if answer != "" {
		fmt.Fprintf(&b, "\nIts last answer, quoted:\n> %s\n", quote(answer))
	}
	b.WriteString("\nAcknowledge this in one sentence; do nothing else now.")
	return b.String()
}
