// Package merge merges a thread into its parent or into another thread. It shows a preview and asks first: nothing is
// committed or merged that the user has not been shown.
package merge

import (
	"context"
	"errors"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature merges threads.
type Feature struct {
	*host.Host
	// archive archives a thread that has nothing to merge.
	archive func(thread.ID) tea.Cmd
}

// Register adds the feature to a host.
func Register(h *host.Host, archive func(thread.ID) tea.Cmd) {
	f := &Feature{Host: h, archive: archive}
	h.Actions.OnThread(intent.Merge, func(s *thread.Status) tea.Cmd { return f.open(plan{id: s.ID}) })
	h.Actions.OnThread(intent.Finish, func(s *thread.Status) tea.Cmd { return f.open(plan{id: s.ID, finish: true}) })
}

// open shows what a merge would do and asks whether to do it.
func (f *Feature) open(p plan) tea.Cmd {
	verb := "merge "
	if p.finish {
		verb = "finish "
	}
	p.commit, p.named = false, ""
	d := dialog.NewAsk(verb+f.Name(p.id), dialog.Plain("Checking what would be merged …"), dialog.Cancel("Cancel")).
		Until(f.over(p.id))
	f.Dialogs.Push(d)
	return host.Call(f.Host, host.Slow, func(ctx context.Context) (preview, error) { return p.preview(ctx, f.Server) },
		func(l preview, err error) tea.Cmd {
			f.fill(d, l, err)
			return nil
		})
}

// fill fills the dialog with what the merge would do.
func (f *Feature) fill(d *dialog.Ask, l preview, err error) {
	s := f.Threads.Thread(l.id)
	switch {
	case err != nil && l.finish && s != nil && s.Worktree.Path == "":
		d.Set(dialog.Plain("It has no worktree: its changes are already in "+s.Dir+"."), dialog.Cancel("Cancel"),
			dialog.Choice{Label: "Archive", Result: host.Do(func() tea.Cmd { return f.archive(s.ID) }), Danger: true})
	case err != nil:
		choices := []dialog.Choice{dialog.Cancel("Close")}
		if s != nil && s.Worktree.Path != "" {
			choices = append(choices, f.other(l.plan))
		}
		d.Set([]dialog.Line{{Text: err.Error(), Tok: theme.Bad}}, choices...)
	case l.report.Stopped:
		d.Set(stoppedLines(l.report), f.stoppedChoices(l.id)...)
	default:
		d.Set(planLines(l.report, l.finish), f.choices(l)...)
	}
}

// other is the choice that picks another thread to merge into.
func (f *Feature) other(p plan) dialog.Choice {
	return dialog.Choice{Label: "Into …", Result: host.Do(func() tea.Cmd {
		f.chooseTarget(p)
		return nil
	})}
}

// choices are the ways to merge.
func (f *Feature) choices(l preview) []dialog.Choice {
	once, end, both := "Merge", "Finish", "Merge and finish"
	if l.commit {
		once, end, both = "Commit and merge", "Commit and finish", "Commit, merge and finish"
	}
	merge := func(label string, finish bool) dialog.Choice {
		p := l.plan
		p.finish = finish
		return dialog.Choice{Label: label, Result: host.Do(func() tea.Cmd { return f.run(p) }), Danger: true}
	}
	switch {
	case l.report.UpToDate && !l.finish:
		return []dialog.Choice{dialog.Cancel("Close"), f.other(l.plan)}
	case l.finish:
		return []dialog.Choice{dialog.Cancel("Cancel"), merge(end, true), f.other(l.plan)}
	default:
		return []dialog.Choice{dialog.Cancel("Cancel"), merge(once, false), merge(both, true), f.other(l.plan)}
	}
}

func (f *Feature) stoppedChoices(id thread.ID) []dialog.Choice {
	return []dialog.Choice{dialog.Cancel("Later"),
		{Label: "Continue", Result: host.Do(func() tea.Cmd { return f.resume(id) })},
		{Label: "Abort merge", Result: host.Do(func() tea.Cmd { return f.abort(id) }), Danger: true}}
}

// over returns a function that says why merging a thread no longer needs an answer.
func (f *Feature) over(id thread.ID) func() string {
	name, was := f.Name(id), thread.Outcome{}
	if s := f.Threads.Thread(id); s != nil {
		was = s.Outcome
		if !s.Archived.IsZero() {
			return func() string { return "" } // archived threads can be merged
		}
	}
	return func() string {
		if why := f.Gone(id, name); why != "" {
			return why
		}
		if now := f.Threads.Thread(id).Outcome; now.Kind == thread.OutcomeMerged && !now.At.Equal(was.At) {
			return name + " was merged from another screen or by a verb."
		}
		return ""
	}
}

// chooseTarget asks what to merge into.
func (f *Feature) chooseTarget(p plan) {
	var items []dialog.Item
	for _, s := range f.Threads.All() {
		if s.ID == p.id || !s.Archived.IsZero() {
			continue
		}
		to := p
		to.into = s.ID
		note := s.Worktree.Branch
		if note == "" {
			note = "the project's folder"
		}
		items = append(items, dialog.Item{Title: s.TypedName(), Note: note,
			Result: host.Do(func() tea.Cmd { return f.open(to) })})
	}
	f.Dialogs.Push(dialog.NewPicker("merge "+f.Name(p.id)+" into", items))
}

// openNote asks whether to tell the agent of the branch that was merged into.
func (f *Feature) openNote(p plan, r thread.MergeReport) {
	whose := p.into
	if s := f.Threads.Thread(p.id); whose == "" && s != nil {
		whose = s.Parent
	}
	body := dialog.Plain("The note is sent to the agent of "+f.Name(whose)+" as a prompt, which costs a turn:", "")
	for _, l := range plain.Lines(r.Summary) {
		body = append(body, dialog.Line{Text: "  " + l, Tok: theme.Muted})
	}
	f.Dialogs.Push(dialog.NewAsk("tell the agent about the merge?", body, dialog.Cancel("Don't send"),
		dialog.Choice{Label: "Send note", Result: host.Do(func() tea.Cmd { return f.note(p) })}))
}

func (f *Feature) run(p plan) tea.Cmd {
	return tea.Batch(f.Notify(thread.LevelInfo, "Merging …"), host.Call(f.Host, host.Slow,
		func(ctx context.Context) (thread.MergeReport, error) { return p.merge(ctx, f.Server) },
		func(r thread.MergeReport, err error) tea.Cmd { return f.merged(p, r, err) }))
}

func (f *Feature) resume(id thread.ID) tea.Cmd {
	return tea.Batch(f.Notify(thread.LevelInfo, "Merging …"), host.Call(f.Host, host.Slow,
		api.MergeContinue.On(f.Server, api.Ref{Thread: string(id)}),
		func(r thread.MergeReport, err error) tea.Cmd { return f.merged(plan{id: id}, r, err) }))
}

func (f *Feature) abort(id thread.ID) tea.Cmd {
	return f.Change("abort the merge", "Merge aborted",
		api.MergeAbort.On(f.Server, api.Ref{Thread: string(id)}), nil)
}

// note sends the note about the newest merge.
func (f *Feature) note(p plan) tea.Cmd {
	r := thread.MergeRequest{Thread: string(p.id), Into: string(p.into), NoteOnly: true}
	return f.Change("send the note", "Note sent", api.Merge.Command().On(f.Server, r), nil)
}

// merged reports what a merge did, or asks how to continue.
func (f *Feature) merged(p plan, r thread.MergeReport, err error) tea.Cmd {
	switch {
	case r.Stopped || len(r.Conflicts) > 0:
		f.Dialogs.Push(dialog.NewAsk("merge stopped: "+plain.Count(len(r.Conflicts), "conflict"), stoppedLines(r),
			f.stoppedChoices(p.id)...).Until(f.over(p.id)))
		return nil
	case errors.Is(err, thread.ErrConflict) && !p.commit, errors.Is(err, errOthersToCommit):
		// Something changed since the preview: show a new one.
		return tea.Batch(f.Notify(thread.LevelError, "Merge: "+err.Error()), f.open(p))
	case err != nil:
		return f.Fail("merge", err)
	}
	f.did(p, r)
	if r.Ask {
		f.openNote(p, r)
	}
	return f.Notify(thread.LevelInfo, mergedText(f.Name(p.id), r))
}

// did records a merge as the last step, so that undo names it instead of undoing an older one.
func (f *Feature) did(p plan, r thread.MergeReport) {
	step := host.Step{What: "merge " + f.Name(p.id) + " into " + r.Into}
	if !r.UpToDate {
		step.CannotUndo = "Only git can undo the merge on " + r.Into + ":\n  git -C " + r.Dir +
			" revert -m 1 " + short(r.Commit)
	}
	if r.Finished {
		step.What = "finish " + f.Name(p.id)
		step.CannotUndo = strings.TrimSpace(step.CannotUndo + "\nThe thread is in the archive (" +
			f.Keys.KeyOf(intent.Archived) + "): " + f.Keys.KeyOf(intent.Archive) +
			" restores it, and resuming it recreates its worktree.")
	}
	if step.CannotUndo != "" {
		f.Undo.Add(step)
	}
}
