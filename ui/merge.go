package ui

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

func (m *Model) openMerge(s *thread.Status, finish bool) tea.Cmd {
	verb := "merge "
	if finish {
		verb = "finish "
	}
	d := dialog.NewAsk(verb+s.Name, dialog.Plain("looking what it would bring …"))
	m.dialogs.Push(d)
	return m.merge(s.ID, finish, d)
}

// merged takes what a merge would do into its dialog, or what it did.
func (m *Model) merged(msg mergedMsg) tea.Cmd {
	if msg.into != nil {
		if msg.err != nil {
			msg.into.Set([]dialog.Line{{Text: msg.err.Error(), Tok: theme.Bad}}, dialog.Choice{Label: "close", Result: dialog.Cancelled{}})
			return nil
		}
		msg.into.Set(mergePlan(msg.report, msg.finish), mergeChoices(msg)...)
		return nil
	}
	r := msg.report
	if len(r.Conflicts) > 0 {
		m.dialogs.Push(dialog.NewAsk("merge stopped: "+dialog.Count(len(r.Conflicts), "conflict"), conflictLines(r),
			dialog.Choice{Label: "solved, go on", Result: mergeOn{msg.id}}, dialog.Choice{Label: "later", Result: dialog.Cancelled{}},
			dialog.Choice{Label: "take it back", Result: mergeOff{msg.id}, Danger: true}))
		return nil
	}
	if msg.err != nil {
		return m.fail("merge", msg.err)
	}
	text := fmt.Sprintf("%s is merged into %s (%s)", r.Branch, r.Into, diff.Counts(r.Files))
	if r.UpToDate {
		text = r.Into + " has everything already"
	}
	if r.Finished {
		text += "; archived"
	}
	if r.Kept != "" {
		text += "; worktree kept: " + r.Kept
	}
	return m.tell(thread.LevelInfo, text)
}

func conflictLines(r thread.MergeReport) []dialog.Line {
	body := dialog.Plain("Solve them in "+r.Dir+":", "")
	for _, f := range r.Conflicts {
		body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Bad})
	}
	return append(body, dialog.Line{}, dialog.Line{Text: "Merging again later leads back to where it stopped.", Tok: theme.Muted})
}

func mergePlan(r thread.MergeReport, finish bool) []dialog.Line {
	if r.UpToDate {
		return dialog.Plain(r.Into + " has everything of " + r.Branch + " already.")
	}
	body := dialog.Plain(r.Branch+" → "+r.Into, diff.Counts(r.Files))
	const most = 12
	for i, f := range r.Files {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(r.Files)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: fmt.Sprintf("  %s +%d −%d", f.Path, f.Insertions, f.Deletions), Tok: theme.Muted})
	}
	if len(r.Conflicts) > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: dialog.Count(len(r.Conflicts), "conflict") + " to be solved in " + r.Dir + ":", Tok: theme.Warn})
		for _, f := range r.Conflicts {
			body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Warn})
		}
	}
	if finish {
		body = append(body, dialog.Line{}, dialog.Line{Text: "Then the thread is archived and its worktree removed, if everything in it is reachable.", Tok: theme.Muted})
	}
	return body
}

func mergeChoices(msg mergedMsg) []dialog.Choice {
	no := dialog.Choice{Label: "cancel", Result: dialog.Cancelled{}}
	merge := dialog.Choice{Label: "merge", Result: mergeIt{msg.id, false}}
	finish := dialog.Choice{Label: "merge and finish", Result: mergeIt{msg.id, true}}
	switch {
	case msg.report.UpToDate && !msg.finish:
		return []dialog.Choice{{Label: "close", Result: dialog.Cancelled{}}}
	case msg.finish:
		finish.Label = "finish"
		return []dialog.Choice{finish, no}
	default:
		return []dialog.Choice{merge, finish, no}
	}
}
