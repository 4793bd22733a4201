// Package lifecycle stops, archives, deletes, abandons, renames and pins threads. Anything that stops or removes
// something asks for confirmation. The question is withdrawn, with the reason, once it has been settled elsewhere:
// on another screen, by a verb, or by an agent that has the grant.
package lifecycle

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature manages the life of threads.
type Feature struct {
	*host.Host
}

func (f *Feature) pin(s *thread.Status) tea.Cmd {
	task := "pin "
	if s.Pinned {
		task = "unpin "
	}
	return f.Change(task+f.Name(s.ID), "", api.Pin.On(f.Server, api.PinRequest{Thread: string(s.ID), On: !s.Pinned}), nil)
}

// read marks a thread as read.
func (f *Feature) read(s *thread.Status) tea.Cmd {
	if s.State.State != thread.StateDone {
		return f.Notify(thread.LevelInfo, f.Name(s.ID)+" has nothing to read")
	}
	return f.Change("mark "+f.Name(s.ID)+" as read", "", api.Seen.On(f.Server, api.Ref{Thread: string(s.ID)}), nil)
}

func (f *Feature) unarchive(s *thread.Status) tea.Cmd {
	name := f.Name(s.ID)
	return f.Change("restore "+name, name+" restored", api.Unarchive.On(f.Server, api.Ref{Thread: string(s.ID)}), nil)
}

func (f *Feature) stop(id thread.ID) tea.Cmd {
	name := f.Name(id)
	return f.Begin("Stopping "+name+" …", "stop "+name, name+" stopped",
		api.StopAgent.On(f.Server, api.Ref{Thread: string(id)}), nil)
}

func (f *Feature) abandon(id thread.ID, reason string) tea.Cmd {
	name := f.Name(id)
	return f.Begin("Abandoning "+name+" …", "abandon "+name, name+" abandoned",
		api.Abandon.On(f.Server, api.AbandonRequest{Thread: string(id), Reason: reason}),
		&host.Step{What: "abandon " + name, CannotUndo: "This cannot be undone: the thread stays marked as abandoned. " +
			"Its conversation, files and worktree are unchanged."})
}

// confirm asks for confirmation; over returns why the question no longer applies, or "".
func (f *Feature) confirm(title string, body []dialog.Line, label string, do func() tea.Cmd, over func() string) {
	f.Dialogs.Push(dialog.NewAsk(title, body, dialog.Cancel("Cancel"),
		dialog.Choice{Label: label, Result: host.Do(do), Danger: true}).Until(over))
}

func (f *Feature) openArchive(s *thread.Status) tea.Cmd {
	id, name := s.ID, f.Name(s.ID)
	body := dialog.Plain("The thread moves to the archive, with everything in it. Its worktree stays.")
	if host.Running(s) {
		body = append(body, dialog.Line{Text: "Its agent is running and will be stopped.", Tok: theme.Warn})
	}
	f.confirm("archive "+name+"?", body, "Archive", func() tea.Cmd { return f.Archive(id) },
		func() string { return f.Gone(id, name) })
	return nil
}

// Archive archives a thread.
func (f *Feature) Archive(id thread.ID) tea.Cmd {
	s := f.Threads.Thread(id)
	if s == nil {
		return nil
	}
	name := f.Name(s.ID)
	undo := f.restoreStep("archive", *s, func(now *thread.Status) bool { return !now.Archived.IsZero() }, api.Unarchive)
	return f.Begin("Archiving "+name+" …", "archive "+name, name+" archived",
		api.Archive.On(f.Server, api.Ref{Thread: string(id)}), &undo)
}

func (f *Feature) openDelete(s *thread.Status) tea.Cmd {
	id, name := s.ID, f.Name(s.ID)
	body := dialog.Plain("The conversation moves to the trash. Uncommitted files are saved first.")
	if host.Running(s) {
		body = append(body, dialog.Line{Text: "Its agent is running and will be stopped.", Tok: theme.Warn})
	}
	if s.Worktree.Path != "" {
		body = append(body, dialog.Line{Text: "Its worktree is deleted too: " + s.Worktree.Path, Tok: theme.Muted})
	}
	f.confirm("delete "+name+"?", body, "Delete", func() tea.Cmd { return f.remove(id) }, func() string {
		if f.Threads.Thread(id) == nil {
			return f.Gone(id, name)
		}
		return "" // archived threads can be deleted
	})
	return nil
}

// remove deletes a thread.
func (f *Feature) remove(id thread.ID) tea.Cmd {
	s := f.Threads.Thread(id)
	if s == nil {
		return nil
	}
	name := f.Name(s.ID)
	undo := f.restoreStep("delete", *s, func(*thread.Status) bool { return false }, api.Undelete)
	return f.Begin("Deleting "+name+" …", "delete "+name, name+" deleted",
		api.Delete.On(f.Server, api.Ref{Thread: string(id)}), &undo)
}

func (f *Feature) openStop(s *thread.Status) tea.Cmd {
	if !host.Running(s) {
		return nil
	}
	id, name := s.ID, f.Name(s.ID)
	f.confirm("stop "+s.Agent+" in "+name+"?",
		dialog.Plain("The thread stays and can be resumed. A turn in progress is cut off."),
		"Stop", func() tea.Cmd { return f.stop(id) }, func() string {
			if now := f.Threads.Thread(id); now == nil || !host.Running(now) {
				return "The agent in " + name + " is no longer running."
			}
			return ""
		})
	return nil
}

// openAbandon asks for the reason to abandon a thread, and then for confirmation.
func (f *Feature) openAbandon(s *thread.Status) tea.Cmd {
	id := s.ID
	in := &dialog.Input{Label: "Reason", Hint: "Why (kept with the thread)"}
	f.Dialogs.Push(dialog.NewOne("abandon "+f.Name(s.ID), in, "Enter a reason", func(reason string) dialog.Result {
		return host.Do(func() tea.Cmd { return f.confirmAbandon(id, reason) })
	}).Verb("continue"))
	return nil
}

func (f *Feature) confirmAbandon(id thread.ID, reason string) tea.Cmd {
	name := f.Name(id)
	f.confirm("abandon "+name+"?", dialog.Plain("Reason: "+reason, "",
		"The thread is marked as abandoned, which cannot be undone. Its conversation and files stay."),
		"Abandon", func() tea.Cmd { return f.abandon(id, reason) }, func() string { return f.Gone(id, name) })
	return nil
}

// restoreStep is the step that undoes an archive or a delete. It restores the thread and, if its agent was running,
// offers to resume that too.
func (f *Feature) restoreStep(
	what string, s thread.Status, gone func(*thread.Status) bool, restore api.Command[api.Ref],
) host.Step {
	ref, name, ran := string(s.ID), f.Name(s.ID), host.Running(&s)
	run := func(resume bool) func() tea.Cmd {
		return func() tea.Cmd {
			done := name + " restored"
			if ran && !resume {
				done += " (" + f.Keys.KeyOf(intent.Resume) + " to resume its agent)"
			}
			if !resume {
				return f.Change("restore "+name, done, restore.On(f.Server, api.Ref{Thread: ref}), nil)
			}
			cols, rows := f.Screen.PaneSize()
			return f.Start("restore "+name, "restored and resumed", false,
				func(ctx context.Context) (thread.Status, error) {
					if err := restore.Do(ctx, f.Server, api.Ref{Thread: ref}); err != nil {
						return thread.Status{}, err
					}
					return api.Resume.Do(ctx, f.Server, api.ResumeRequest{Thread: ref, Cols: cols, Rows: rows})
				})
		}
	}
	return host.Step{
		What: what + " " + name,
		Obsolete: func() string {
			if now := f.Threads.Thread(s.ID); now != nil && !gone(now) && now.Updated.After(s.Updated) {
				return name + " has already been restored from somewhere else."
			}
			return ""
		},
		Ways: func() ([]dialog.Line, []host.Way) {
			if !ran {
				return dialog.Plain(name + " is restored as it was."), []host.Way{{Label: "Restore", Run: run(false)}}
			}
			return dialog.Plain(name + " is restored. Its agent was stopped and can be resumed."),
				[]host.Way{{Label: "Restore", Run: run(false)}, {Label: "Restore and resume", Run: run(true)}}
		},
	}
}

func (f *Feature) openRename(s *thread.Status) tea.Cmd {
	id := s.ID
	in := &dialog.Input{Label: "Name", Text: field.New(s.TypedName())}
	f.Dialogs.Push(dialog.NewOne("rename "+f.Name(s.ID), in, "Enter a name", func(name string) dialog.Result {
		return host.Do(func() tea.Cmd { return f.rename(id, name) })
	}).Verb("rename"))
	return nil
}

// rename renames a thread; undo restores the old name.
func (f *Feature) rename(id thread.ID, name string) tea.Cmd {
	was := f.Name(id)
	renamed := func(to string) func(context.Context) error {
		return api.Rename.Command().On(f.Server, api.RenameRequest{Thread: string(id), Name: to})
	}
	return f.Change("rename "+was, "Renamed to "+name, renamed(name), &host.Step{
		What: "rename " + was,
		Ways: func() ([]dialog.Line, []host.Way) {
			return dialog.Plain("Renames it back to " + was + "."), []host.Way{{Label: "Rename", Run: func() tea.Cmd {
				return f.Change("rename "+name, "Renamed back to "+was, renamed(was), nil)
			}}}
		},
		Obsolete: func() string {
			if f.Name(id) == was {
				return "It is already called " + was + "."
			}
			return ""
		},
	})
}
