package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/diff"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// mergePlan is what is to be merged: a thread, into another or into its parent, and whether the
// thread is done with then. With commit, what is not committed where it goes is committed first.
type mergePlan struct {
	id, into       thread.ID
	finish, commit bool
	named          string // what the person was told would be committed
}

// openMerge looks what a merge would bring and asks.
func (m *Model) openMerge(p mergePlan) tea.Cmd {
	verb := "merge "
	if p.finish {
		verb = "finish "
	}
	p.commit, p.named = false, ""
	name := m.name(p.id)
	d := dialog.NewAsk(verb+name, dialog.Plain("looking what it would bring …"), dialog.Cancel("Cancel")).Until(m.mergeOver(p.id))
	m.dialogs.Push(d)
	return m.merge(p, d)
}

// mergeOver says why a thread's merge is not to be asked about any more.
func (m *Model) mergeOver(id thread.ID) func() string {
	name, was := m.name(id), thread.Outcome{}
	if s := m.tree.Thread(id); s != nil {
		was = s.Outcome
		if !s.Archived.IsZero() {
			return func() string { return "" } // what is archived can be merged
		}
	}
	return func() string {
		if why := m.gone(id, name); why != "" {
			return why
		}
		if now := m.tree.Thread(id).Outcome; now.Kind == thread.OutcomeMerged && !now.At.Equal(was.At) {
			return name + " was merged meanwhile, on another screen or by a verb."
		}
		return ""
	}
}

// chooseTarget asks what to merge into.
func (m *Model) chooseTarget(p mergePlan) {
	var items []dialog.Item
	for _, s := range m.tree.All() {
		if s.ID == p.id || !s.Archived.IsZero() {
			continue
		}
		to := p
		to.into = s.ID
		note := s.Worktree.Branch
		if note == "" {
			note = "the project's folder"
		}
		items = append(items, dialog.Item{Title: s.DisplayName(), Note: note, Result: mergeInto{to}})
	}
	m.dialogs.Push(dialog.NewPicker("merge "+m.name(p.id)+" into", items))
}

// merged takes what a merge would do into its dialog, or what it did.
func (m *Model) merged(msg mergedMsg) tea.Cmd {
	r := msg.report
	switch {
	case msg.dialog != nil:
		m.mergeLooked(msg)
		return nil
	case r.Stopped || len(r.Conflicts) > 0:
		m.dialogs.Push(dialog.NewAsk("merge stopped: "+dialog.Count(len(r.Conflicts), "conflict"), stoppedLines(r), stoppedChoices(msg.id)...).
			Until(m.mergeOver(msg.id)))
		return nil
	case errors.Is(msg.err, thread.ErrConflict) && !msg.commit, errors.Is(msg.err, errOthersToCommit):
		// Something came since it was looked at: what that is, and what can be done, is asked.
		return tea.Batch(m.tell(thread.LevelError, "merge: "+msg.err.Error()), m.openMerge(msg.mergePlan))
	case msg.err != nil:
		return m.fail("merge", msg.err)
	}
	text := fmt.Sprintf("%s is merged into %s", m.name(msg.id), r.Into)
	switch {
	case r.UpToDate:
		text = r.Into + " has everything already"
	case len(r.Files) > 0:
		text += " (" + diff.Counts(r.Files) + ")"
	}
	if n := len(r.Committed); n > 0 {
		text += "; " + dialog.Count(n, "file") + " committed there"
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
	m.mergeDone(msg)
	if r.Ask {
		m.openNote(msg)
	}
	return m.tell(thread.LevelInfo, text)
}

// openNote asks whether the agent that a merge concerns is sent a note of it.
func (m *Model) openNote(msg mergedMsg) {
	whose := msg.into
	if s := m.tree.Thread(msg.id); whose == "" && s != nil {
		whose = s.Parent
	}
	body := dialog.Plain("A note is a prompt for the agent of "+m.name(whose)+", which costs it a turn:", "")
	for _, l := range plain.Lines(msg.report.Summary) {
		body = append(body, dialog.Line{Text: "  " + l, Tok: theme.Muted})
	}
	m.dialogs.Push(dialog.NewAsk("send a note of the merge?", body,
		dialog.Cancel("No note"), dialog.Choice{Label: "Send the note", Result: noteIt{msg.mergePlan}}))
}

// note sends the note of the merge that was made last.
func (m *Model) note(p mergePlan) tea.Cmd {
	return m.change("the note is sent", func(ctx context.Context) error {
		_, err := m.cfg.Server.Merge(ctx, thread.MergeRequest{Thread: string(p.id), Into: string(p.into), NoteOnly: true})
		return err
	}, nil)
}

// mergeDone notes a merge as what was done last: undo then names it, and does not reach behind it.
func (m *Model) mergeDone(msg mergedMsg) {
	step := undoStep{what: "merge of " + m.name(msg.id) + " into " + msg.report.Into}
	if !msg.report.UpToDate {
		step.never = "This cannot be undone from here. Its commit is in " + msg.report.Into + "; git takes it back: git -C " + msg.report.Dir + " revert -m 1 " + short(msg.report.Commit) + "."
	}
	if msg.report.Finished {
		step.what = "finish of " + m.name(msg.id)
		step.never = strings.TrimSpace(step.never + " The thread is in the archive (" + m.keys.KeyOf(intent.Archived) + "), " + m.keys.KeyOf(intent.Archive) +
			" brings it back, and resuming it makes its worktree again.")
	}
	if step.never != "" {
		m.did(step)
	}
}

// short is how people name a commit.
func short(commit string) string { return commit[:min(len(commit), 12)] }

// mergeLooked fills the dialog that asks whether to merge.
func (m *Model) mergeLooked(msg mergedMsg) {
	s := m.tree.Thread(msg.id)
	switch {
	case msg.err != nil && msg.finish && s != nil && s.Worktree.Path == "":
		msg.dialog.Set(dialog.Plain("It has no worktree of its own: its work is in "+s.Dir+" already."),
			dialog.Cancel("Cancel"), dialog.Choice{Label: "Archive", Result: archiveIt{s.ID}, Danger: true})
	case msg.err != nil:
		choices := []dialog.Choice{dialog.Cancel("Close")}
		if s != nil && s.Worktree.Path != "" {
			choices = append(choices, dialog.Choice{Label: "Into …", Result: mergeChoose{msg.mergePlan}})
		}
		msg.dialog.Set([]dialog.Line{{Text: msg.err.Error(), Tok: theme.Bad}}, choices...)
	case msg.report.Stopped:
		msg.dialog.Set(stoppedLines(msg.report), stoppedChoices(msg.id)...)
	default:
		msg.dialog.Set(planLines(msg.report, msg.finish), planChoices(msg)...)
	}
}

func stoppedLines(r thread.MergeReport) []dialog.Line {
	body := dialog.Plain("It stopped in "+r.Dir+". Resolve these files there:", "")
	for _, f := range r.Conflicts {
		body = append(body, dialog.Line{Text: "  ✗ " + f, Tok: theme.Bad})
	}
	if n := len(r.Committed); n > 0 {
		body = append(body, dialog.Line{}, dialog.Line{Text: "What was not committed there is in a commit of " + r.Into + " now: " + dialog.Count(n, "file") + "."})
	}
	return append(body, dialog.Line{}, dialog.Line{Text: "Merging again later leads back to here.", Tok: theme.Muted})
}

func stoppedChoices(id thread.ID) []dialog.Choice {
	return []dialog.Choice{dialog.Cancel("Later"), {Label: "Continue", Result: mergeOn{id}}, {Label: "Abort merge", Result: mergeOff{id}, Danger: true}}
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
		body = append(body, dialog.Line{}, dialog.Line{Text: dialog.Count(len(r.Conflicts), "conflict") + " to be resolved in " + r.Dir + ":", Tok: theme.Warn})
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

func planChoices(msg mergedMsg) []dialog.Choice {
	no := dialog.Cancel("Cancel")
	other := dialog.Choice{Label: "Into …", Result: mergeChoose{msg.mergePlan}}
	merge, finish := msg.mergePlan, msg.mergePlan
	merge.finish, finish.finish = false, true
	once, end, both := "Merge", "Finish", "Merge and finish"
	if msg.commit {
		once, end, both = "Commit and merge", "Commit and finish", "Commit, merge and finish"
	}
	switch {
	case msg.report.UpToDate && !msg.finish:
		return []dialog.Choice{dialog.Cancel("Close"), other}
	case msg.finish:
		return []dialog.Choice{no, {Label: end, Result: mergeIt{finish}, Danger: true}, other}
	default:
		return []dialog.Choice{no, {Label: once, Result: mergeIt{merge}, Danger: true}, {Label: both, Result: mergeIt{finish}, Danger: true}, other}
	}
}
