// Package lifecycle stops, archives, deletes, abandons, renames and pins threads. Whatever stops or removes something
// asks first; the question is withdrawn, with a word why, as soon as it was answered elsewhere: on another screen, by
// a verb, by an agent that may.
package lifecycle

import (
	"context"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Server is what the life of a thread needs of the server.
type Server interface {
	StopAgent(ctx context.Context, ref string) error
	Resume(ctx context.Context, ref string, cols, rows int) (thread.Status, error)
	Rename(ctx context.Context, ref, name string) (thread.Status, error)
	Pin(ctx context.Context, ref string, on bool) error
	Archive(ctx context.Context, ref string) error
	Unarchive(ctx context.Context, ref string) error
	Abandon(ctx context.Context, ref, reason string) error
	Delete(ctx context.Context, ref string) error
	Undelete(ctx context.Context, ref string) error
}

// Feature keeps threads in order.
type Feature struct {
	*host.Host
	srv Server
}

// New adds the feature.
func New(h *host.Host, srv Server) *Feature {
	f := &Feature{Host: h, srv: srv}
	h.OnThread(intent.Rename, f.openRename)
	h.OnThread(intent.Abandon, f.openAbandon)
	h.OnThread(intent.Pin, f.pin)
	h.OnThread(intent.Archive, func(s *thread.Status) tea.Cmd {
		if !s.Archived.IsZero() {
			return f.unarchive(s)
		}
		return f.openArchive(s)
	})
	h.OnThread(intent.Delete, f.openDelete)
	h.OnThread(intent.Stop, f.openStop)
	return f
}

func (f *Feature) pin(s *thread.Status) tea.Cmd {
	ref, on := string(s.ID), !s.Pinned
	return f.Change("", func(ctx context.Context) error { return f.srv.Pin(ctx, ref, on) }, nil)
}

func (f *Feature) unarchive(s *thread.Status) tea.Cmd {
	ref := string(s.ID)
	return f.Change(s.DisplayName()+" is back", func(ctx context.Context) error { return f.srv.Unarchive(ctx, ref) }, nil)
}

func (f *Feature) stop(id thread.ID) tea.Cmd {
	return f.Begin("stopping "+f.Name(id)+" …", "stopped",
		func(ctx context.Context) error { return f.srv.StopAgent(ctx, string(id)) }, nil)
}

func (f *Feature) abandon(id thread.ID, reason string) tea.Cmd {
	name := f.Name(id)
	return f.Begin("abandoning "+name+" …", name+" is abandoned",
		func(ctx context.Context) error { return f.srv.Abandon(ctx, string(id), reason) },
		&host.Step{What: "abandoning " + name, Never: "This cannot be undone: it stays marked as abandoned. " +
			"Its conversation, files and worktree are as they were."})
}

func (f *Feature) openArchive(s *thread.Status) tea.Cmd {
	id, name := s.ID, s.DisplayName()
	body := dialog.Plain("It is put away with all that it holds; its worktree stays.")
	if host.Running(s) {
		body = append(body, dialog.Line{Text: "Its agent runs and will be stopped.", Tok: theme.Warn})
	}
	f.Dialogs.Push(dialog.NewAsk("archive "+name+"?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Archive", Result: host.Do(func() tea.Cmd { return f.Archive(id) }), Danger: true}).
		Until(func() string { return f.Gone(id, name) }))
	return nil
}

// Archive puts a thread away.
func (f *Feature) Archive(id thread.ID) tea.Cmd {
	s := f.Threads.Thread(id)
	if s == nil {
		return nil
	}
	srv := f.srv
	undo := f.bringBack("archive", *s, func(now *thread.Status) bool { return !now.Archived.IsZero() }, srv.Unarchive)
	return f.Begin("archiving "+s.DisplayName()+" …", s.DisplayName()+" is archived", func(ctx context.Context) error { return srv.Archive(ctx, string(id)) }, &undo)
}

func (f *Feature) openDelete(s *thread.Status) tea.Cmd {
	id, name := s.ID, s.DisplayName()
	body := []dialog.Line{{Text: "The conversation goes to the bin; files that are not committed are saved first."}}
	if host.Running(s) {
		body = append(body, dialog.Line{Text: "Its agent runs and will be stopped.", Tok: theme.Warn})
	}
	if s.Worktree.Path != "" {
		body = append(body, dialog.Line{Text: "Its worktree goes with it: " + s.Worktree.Path, Tok: theme.Muted})
	}
	f.Dialogs.Push(dialog.NewAsk("delete "+name+"?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Delete", Result: host.Do(func() tea.Cmd { return f.remove(id) }), Danger: true}).
		Until(func() string {
			if f.Threads.Thread(id) == nil {
				return f.Gone(id, name)
			}
			return "" // what is archived can be deleted
		}))
	return nil
}

// remove deletes a thread.
func (f *Feature) remove(id thread.ID) tea.Cmd {
	s := f.Threads.Thread(id)
	if s == nil {
		return nil
	}
	srv := f.srv
	undo := f.bringBack("delete", *s, func(*thread.Status) bool { return false }, srv.Undelete)
	return f.Begin("deleting "+s.DisplayName()+" …", s.DisplayName()+" is deleted", func(ctx context.Context) error { return srv.Delete(ctx, string(id)) }, &undo)
}

func (f *Feature) openStop(s *thread.Status) tea.Cmd {
	if !host.Running(s) {
		return nil
	}
	id, name := s.ID, s.DisplayName()
	f.Dialogs.Push(dialog.NewAsk("stop "+s.Agent+" in "+name+"?", dialog.Plain("The thread stays and can be resumed. A turn that it is in the middle of is cut."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Stop", Result: host.Do(func() tea.Cmd { return f.stop(id) }), Danger: true}).
		Until(func() string {
			if now := f.Threads.Thread(id); now == nil || !host.Running(now) {
				return "The agent in " + name + " is not running any more."
			}
			return ""
		}))
	return nil
}

// openAbandon asks why to abandon a thread, and then whether to.
func (f *Feature) openAbandon(s *thread.Status) tea.Cmd {
	id := s.ID
	in := &dialog.Input{Label: "Reason", Hint: "Why (kept with the thread)"}
	f.Dialogs.Push(dialog.NewOne("abandon "+s.DisplayName(), in, "Enter a reason", func(reason string) dialog.Result {
		return host.Do(func() tea.Cmd { return f.confirmAbandon(id, reason) })
	}).Verb("continue"))
	return nil
}

func (f *Feature) confirmAbandon(id thread.ID, reason string) tea.Cmd {
	name := f.Name(id)
	f.Dialogs.Push(dialog.NewAsk("abandon "+name+"?", dialog.Plain("Reason: "+reason, "", "It is marked as abandoned, which cannot be undone. Its conversation and files stay."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Abandon", Result: host.Do(func() tea.Cmd { return f.abandon(id, reason) }), Danger: true}).
		Until(func() string { return f.Gone(id, name) }))
	return nil
}

// bringBack is the step that undoes an archive or a delete: the thread comes back, its agent only if it ran and
// the person wants that.
func (f *Feature) bringBack(what string, s thread.Status, gone func(*thread.Status) bool, back func(context.Context, string) error) host.Step {
	ref, name, ran := string(s.ID), s.DisplayName(), host.Running(&s)
	again := func(resume bool) func() tea.Cmd {
		return func() tea.Cmd {
			said := name + " is back"
			if ran && !resume {
				said += "; its agent was stopped, " + f.Keys.KeyOf(intent.Resume) + " resumes it"
			}
			if !resume {
				return f.Change(said, func(ctx context.Context) error { return back(ctx, ref) }, nil)
			}
			cols, rows := f.PaneSize()
			return f.Start("bring back", "is back and resumed", false, func(ctx context.Context) (thread.Status, error) {
				if err := back(ctx, ref); err != nil {
					return thread.Status{}, err
				}
				return f.srv.Resume(ctx, ref, cols, rows)
			})
		}
	}
	return host.Step{
		What: what + " of " + name,
		Over: func() string {
			if now := f.Threads.Thread(s.ID); now != nil && !gone(now) && now.Updated.After(s.Updated) {
				return name + " is back already: somebody else did that."
			}
			return ""
		},
		Ways: func() ([]dialog.Line, []host.Way) {
			if !ran {
				return dialog.Plain(name + " comes back as it was."), []host.Way{{Label: "Bring back", Run: again(false)}}
			}
			return dialog.Plain(name + " comes back. Its agent was stopped and can be resumed."),
				[]host.Way{
					{Label: "Bring back", Run: again(false)}, {Label: "Bring back and resume", Run: again(true)},
				}
		},
	}
}

func (f *Feature) openRename(s *thread.Status) tea.Cmd {
	id := s.ID
	in := &dialog.Input{Label: "Name", Text: field.New(s.DisplayName())}
	f.Dialogs.Push(dialog.NewOne("rename "+s.DisplayName(), in, "Enter a name", func(name string) dialog.Result {
		return host.Do(func() tea.Cmd { return f.rename(id, name) })
	}).Verb("rename"))
	return nil
}

// rename renames a thread; undoing gives it its name back.
func (f *Feature) rename(id thread.ID, name string) tea.Cmd {
	was, srv := f.Name(id), f.srv
	return f.Change("", func(ctx context.Context) error {
		_, err := srv.Rename(ctx, string(id), name)
		return err
	}, &host.Step{
		What: "renaming of " + was,
		Ways: func() ([]dialog.Line, []host.Way) {
			return dialog.Plain("Its name is " + was + " again."), []host.Way{{Label: "Rename", Run: func() tea.Cmd {
				return f.Change("its name is "+was+" again", func(ctx context.Context) error {
					_, err := srv.Rename(ctx, string(id), was)
					return err
				}, nil)
			}}}
		},
		Over: func() string {
			if f.Name(id) == was {
				return "Its name is " + was + " already."
			}
			return ""
		},
	})
}
