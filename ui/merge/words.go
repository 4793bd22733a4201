package merge

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

func stoppedLines(r thread.MergeReport) []dialog.Line {
	body := dialog.Plain("It stopped in "+r.Dir+". Resolve these files there:", "")
	for _, f := range r.Conflicts {
		body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Bad})
	}
	if n := len(r.Committed); n > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: "What was not committed there is in a commit of " + r.Into + " now: " + plain.Count(n, "file") + "."})
	}
	return append(body, dialog.Line{}, dialog.Line{Text: "Merging again later leads back to here.", Tok: theme.Muted})
}

// committedLines name what is committed before a merge.
func committedLines(r thread.MergeReport) []dialog.Line {
	body := []dialog.Line{{Text: "What is not committed in " + r.Dir + " is in its way. It can be committed to " + r.Into + " first, all of it:", Tok: theme.Warn}}
	const most = 20
	for i, f := range r.Committed {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(r.Committed)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: "  " + f})
	}
	return append(body, dialog.Line{})
}

func planLines(r thread.MergeReport, finish bool) []dialog.Line {
	var body []dialog.Line
	if len(r.Committed) > 0 {
		body = committedLines(r)
	}
	if r.UpToDate {
		body = append(body, dialog.Line{Text: r.Into + " has everything of " + r.Branch + " already."})
	} else {
		body = append(body, dialog.Plain(r.Branch+" → "+r.Into, diff.Counts(r.Files))...)
		const most = 12
		for i, f := range r.Files {
			if i == most {
				body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(r.Files)-most), Tok: theme.Muted})
				break
			}
			body = append(body, dialog.Line{Text: fmt.Sprintf("  %s +%d −%d", f.Path, f.Insertions, f.Deletions), Tok: theme.Muted})
		}
	}
	if len(r.Shared) > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Its folder is shared with " + plain.Names(r.Shared) + ": what changed there is merged, whoever wrote it.", Tok: theme.Warn})
	}
	if len(r.Beside) > 0 && !r.UpToDate {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Also in " + r.Dir + ", whose files change: " + plain.Names(r.Beside) + ".", Tok: theme.Warn})
	}
	if r.Unsure != "" {
		body = append(body, dialog.Line{}, dialog.Line{Text: r.Unsure, Tok: theme.Warn})
	}
	if len(r.Conflicts) > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: plain.Count(len(r.Conflicts), "conflict") + " to be resolved in " + r.Dir + ":", Tok: theme.Warn})
		for _, f := range r.Conflicts {
			body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Warn})
		}
	}
	if !r.UpToDate {
		body = append(body, dialog.Line{}, dialog.Line{Text: "It cannot be undone from here: the merge becomes a commit of " + r.Into + ", which git takes back (git revert).", Tok: theme.Warn})
	}
	if finish {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Then the thread is archived, and its worktree removed if everything in it is reachable.", Tok: theme.Muted})
	}
	return body
}

// mergedText says what a merge of a thread did.
func mergedText(name string, r thread.MergeReport) string {
	text := fmt.Sprintf("%s is merged into %s", name, r.Into)
	switch {
	case r.UpToDate:
		text = r.Into + " has everything already"
	case len(r.Files) > 0:
		text += " (" + diff.Counts(r.Files) + ")"
	}
	if n := len(r.Committed); n > 0 {
		text += "; " + plain.Count(n, "file") + " committed there"
	}
	if r.Finished {
		text += "; archived"
	}
	if r.Kept != "" {
		text += "; worktree kept: " + r.Kept
	}
	if r.Told {
		text += "; its agent is sent a note"
	}
	return text
}

// short is how people name a commit.
func short(commit string) string { return commit[:min(len(commit), 12)] }
