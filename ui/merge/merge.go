// Package merge brings the work of a thread into its parent or into another thread. It looks first what a merge would
// do and asks; nothing is committed or merged that the person was not shown.
package merge

import (
	"context"
	"errors"
	"strings"

	"orchestrator/thread"
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
	srv Server
	// archive puts away a thread whose work is where it belongs already.
	archive func(thread.ID) tea.Cmd
}

// Register adds the feature.
func Register(h *host.Host, srv Server, archive func(thread.ID) tea.Cmd) {
	f := &Feature{Host: h, srv: srv, archive: archive}
	h.OnThread(intent.Merge, func(s *thread.Status) tea.Cmd { return f.open(plan{id: s.ID}) })
	h.OnThread(intent.Finish, func(s *thread.Status) tea.Cmd { return f.open(plan{id: s.ID, finish: true}) })
}

// open looks what a merge would bring and asks.
func (f *Feature) open(p plan) tea.Cmd {
	verb := "merge "
	if p.finish {
		verb = "finish "
	}
	p.commit, p.named = false, ""
	d := dialog.NewAsk(verb+f.Name(p.id), dialog.Plain("looking what it would bring …"), dialog.Cancel("Cancel")).
		Until(f.over(p.id))
	f.Dialogs.Push(d)
	return host.Call(f.Host, host.Slow, func(ctx context.Context) (looked, error) { return p.look(ctx, f.srv) },
		func(l looked, err error) tea.Cmd {
			f.fill(d, l, err)
			return nil
		})
}

// fill puts what a merge would do into the dialog that asks whether to merge.
func (f *Feature) fill(d *dialog.Ask, l looked, err error) {
	s := f.Threads.Thread(l.id)
	switch {
	case err != nil && l.finish && s != nil && s.Worktree.Path == "":
		d.Set(dialog.Plain("It has no worktree of its own: its work is in "+s.Dir+" already."), dialog.Cancel("Cancel"),
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

// other is the choice of another thread to merge into.
func (f *Feature) other(p plan) dialog.Choice {
	return dialog.Choice{Label: "Into …", Result: host.Do(func() tea.Cmd {
		f.chooseTarget(p)
		return nil
	})}
}

// choices are the ways to merge.
func (f *Feature) choices(l looked) []dialog.Choice {
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
		{Label: "Continue", Result: host.Do(func() tea.Cmd { return f.carryOn(id) })},
		{Label: "Abort merge", Result: host.Do(func() tea.Cmd { return f.abort(id) }), Danger: true}}
}

// over says why a thread's merge is not to be asked about any more.
func (f *Feature) over(id thread.ID) func() string {
	name, was := f.Name(id), thread.Outcome{}
	if s := f.Threads.Thread(id); s != nil {
		was = s.Outcome
		if !s.Archived.IsZero() {
			return func() string { return "" } // what is archived can be merged
		}
	}
	return func() string {
		if why := f.Gone(id, name); why != "" {
			return why
		}
		if now := f.Threads.Thread(id).Outcome; now.Kind == thread.OutcomeMerged && !now.At.Equal(was.At) {
			return name + " was merged meanwhile, on another screen or by a verb."
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
		items = append(items, dialog.Item{Title: s.DisplayName(), Note: note,
			Result: host.Do(func() tea.Cmd { return f.open(to) })})
	}
	f.Dialogs.Push(dialog.NewPicker("merge "+f.Name(p.id)+" into", items))
}

// openNote asks whether the agent that a merge concerns is sent a note of it.
func (f *Feature) openNote(p plan, r thread.MergeReport) {
	whose := p.into
	if s := f.Threads.Thread(p.id); whose == "" && s != nil {
		whose = s.Parent
	}
	body := dialog.Plain("A note is a prompt for the agent of "+f.Name(whose)+", which costs it a turn:", "")
	for _, l := range plain.Lines(r.Summary) {
		body = append(body, dialog.Line{Text: "  " + l, Tok: theme.Muted})
	}
	f.Dialogs.Push(dialog.NewAsk("send a note of the merge?", body, dialog.Cancel("No note"),
		dialog.Choice{Label: "Send the note", Result: host.Do(func() tea.Cmd { return f.note(p) })}))
}

func (f *Feature) run(p plan) tea.Cmd {
	return tea.Batch(f.Tell(thread.LevelInfo, "merging …"), host.Call(f.Host, host.Slow,
		func(ctx context.Context) (thread.MergeReport, error) { return p.merge(ctx, f.srv) },
		func(r thread.MergeReport, err error) tea.Cmd { return f.merged(p, r, err) }))
}

func (f *Feature) carryOn(id thread.ID) tea.Cmd {
	return tea.Batch(f.Tell(thread.LevelInfo, "merging …"), host.Call(f.Host, host.Slow,
		func(ctx context.Context) (thread.MergeReport, error) { return f.srv.MergeContinue(ctx, string(id)) },
		func(r thread.MergeReport, err error) tea.Cmd { return f.merged(plan{id: id}, r, err) }))
}

func (f *Feature) abort(id thread.ID) tea.Cmd {
	return f.Change("the merge is aborted",
		func(ctx context.Context) error { return f.srv.MergeAbort(ctx, string(id)) }, nil)
}

// note sends the note of the merge that was made last.
func (f *Feature) note(p plan) tea.Cmd {
	return f.Change("the note is sent", func(ctx context.Context) error {
		_, err := f.srv.Merge(ctx, thread.MergeRequest{Thread: string(p.id), Into: string(p.into), NoteOnly: true})
		return err
	}, nil)
}

// merged tells what a merge did, or asks how to go on.
func (f *Feature) merged(p plan, r thread.MergeReport, err error) tea.Cmd {
	switch {
	case r.Stopped || len(r.Conflicts) > 0:
		f.Dialogs.Push(dialog.NewAsk("merge stopped: "+plain.Count(len(r.Conflicts), "conflict"), stoppedLines(r),
			f.stoppedChoices(p.id)...).Until(f.over(p.id)))
		return nil
	case errors.Is(err, thread.ErrConflict) && !p.commit, errors.Is(err, errOthersToCommit):
		// Something came since it was looked at: what that is, and what can be done, is asked.
		return tea.Batch(f.Tell(thread.LevelError, "merge: "+err.Error()), f.open(p))
	case err != nil:
		return f.Fail("merge", err)
	}
	f.did(p, r)
	if r.Ask {
		f.openNote(p, r)
	}
	return f.Tell(thread.LevelInfo, mergedText(f.Name(p.id), r))
}

// did notes a merge as what was done last: undo then names it, and does not reach behind it.
func (f *Feature) did(p plan, r thread.MergeReport) {
	step := host.Step{What: "merge of " + f.Name(p.id) + " into " + r.Into}
	if !r.UpToDate {
		step.Never = "This cannot be undone from here. Its commit is in " + r.Into + "; git takes it back: git -C " + r.Dir +
			" revert -m 1 " + short(r.Commit) + "."
	}
	if r.Finished {
		step.What = "finish of " + f.Name(p.id)
		step.Never = strings.TrimSpace(step.Never + " The thread is in the archive (" + f.Keys.KeyOf(intent.Archived) + "), " +
			f.Keys.KeyOf(intent.Archive) + " brings it back, and resuming it makes its worktree again.")
	}
	if step.Never != "" {
		f.Undo.Did(step)
	}
}
