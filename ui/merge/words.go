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
	body := dialog.Plain("The merge stopped in "+r.Dir+". Resolve these files there:", "")
	for _, f := range r.Conflicts {
		body = append(body, dialog.Line{Text: "  × " + f, Tok: theme.Bad})
	}
	if n := len(r.Committed); n > 0 {
		body = append(body, dialog.Line{}, dialog.Line{
			Text: "Uncommitted changes there are now committed to " + r.Into + " (" + plain.Count(n, "file") + ")."})
	}
	return append(body, dialog.Line{}, dialog.Line{Text: "Merge again to come back here.", Tok: theme.Muted})
}

// committedLines lists what is committed before a merge.
func committedLines(r thread.MergeReport) []dialog.Line {
	body := []dialog.Line{{Tok: theme.Warn, Text: r.Dir + " has uncommitted changes. They are committed to " + r.Into +
		" first, and may conflict:"}}
	const most = 20
	for i, f := range r.Committed {
		if i == most {
			body = append(body, more(len(r.Committed)-most))
			break
		}
		body = append(body, dialog.Line{Text: "  " + f})
	}
	return append(body, dialog.Line{})
}

func planLines(r thread.MergeReport, finish bool) []dialog.Line {
	var body []dialog.Line
	add := func(tok theme.Token, text string) {
		body = append(body, dialog.Line{}, dialog.Line{Text: text, Tok: tok})
	}
	if len(r.Committed) > 0 {
		body = committedLines(r)
	}
	if r.UpToDate {
		body = append(body, dialog.Line{Text: r.Into + " already contains everything in " + r.Branch + "."})
	} else {
		body = append(body, dialog.Plain(r.Branch+" → "+r.Into, diff.Counts(r.Files))...)
		const most = 12
		for i, f := range r.Files {
			if i == most {
				body = append(body, more(len(r.Files)-most))
				break
			}
			body = append(body, dialog.Line{Tok: theme.Muted,
				Text: fmt.Sprintf("  %s +%d −%d", f.Path, f.Insertions, f.Deletions)})
		}
	}
	if len(r.Shared) > 0 {
		add(theme.Warn, "Its folder is shared with "+plain.Names(r.Shared)+": their changes there are merged too.")
	}
	if len(r.Beside) > 0 && !r.UpToDate {
		add(theme.Warn, "Files in "+r.Dir+" change. Other threads there: "+plain.Names(r.Beside)+".")
	}
	if r.Unsure != "" && len(r.Committed) == 0 { // it says the same of what is committed first
		add(theme.Warn, r.Unsure)
	}
	if len(r.Conflicts) > 0 {
		add(theme.Warn, plain.Count(len(r.Conflicts), "conflict")+" to resolve in "+r.Dir+":")
		for _, f := range r.Conflicts {
			body = append(body, dialog.Line{Text: "  × " + f, Tok: theme.Warn})
		}
	}
	if !r.UpToDate {
		add(theme.Warn, "Creates a commit on "+r.Into+" (undo: git revert).")
	}
	if finish {
		add(theme.Muted, "Then the thread is archived. Its worktree is removed if nothing in it would be lost.")
	}
	return body
}

// more returns how many more entries a list has.
func more(n int) dialog.Line {
	return dialog.Line{Text: fmt.Sprintf("  … %d more", n), Tok: theme.Muted}
}

// mergedText returns what a merge of a thread did.
func mergedText(name string, r thread.MergeReport) string {
	text := fmt.Sprintf("%s merged into %s", name, r.Into)
	switch {
	case r.UpToDate:
		text = r.Into + " is already up to date"
	case len(r.Files) > 0:
		text += " (" + diff.Counts(r.Files) + ")"
	}
	if n := len(r.Committed); n > 0 {
		text += "; " + plain.Count(n, "file") + " committed there first"
	}
	if r.Finished {
		text += "; archived"
	}
	if r.Kept != "" {
		text += "; worktree kept: " + r.Kept
	}
	if r.Undone != "" {
		text += "; teardown: " + r.Undone
	}
	if r.Untold != "" {
		text += "; its agent was not told: " + r.Untold
	}
	if r.Told {
		text += "; note sent to its agent"
	}
	return text
}

// short abbreviates a commit for display.
func short(commit string) string { return commit[:min(len(commit), 12)] }
