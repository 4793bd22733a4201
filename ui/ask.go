package ui

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Whatever stops, removes or sends something asks first. A question about a thread is withdrawn, with a word why,
// as soon as it was answered elsewhere: on another screen, by a verb, by an agent that may.

// gone says why there is nothing to ask about a thread any more, "" while there is.
func (m *Model) gone(id thread.ID, name string) string {
	switch s := m.tree.Thread(id); {
	case s == nil:
		return name + " was deleted meanwhile, on another screen or by a verb."
	case !s.Archived.IsZero():
		return name + " was archived meanwhile, on another screen or by a verb."
	default:
		return ""
	}
}

func (m *Model) openArchive(s *thread.Status) {
	id, name := s.ID, s.DisplayName()
	body := dialog.Plain("It is put away with all that it holds; its worktree stays.")
	if running(s) {
		body = append(body, dialog.Line{Text: "Its agent runs and will be stopped.", Tok: theme.Warn})
	}
	m.dialogs.Push(dialog.NewAsk("archive "+name+"?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Archive", Result: archiveIt{id}, Danger: true}).
		Until(func() string { return m.gone(id, name) }))
}

// archive puts a thread away.
func (m *Model) archive(id thread.ID) tea.Cmd {
	s := m.tree.Thread(id)
	if s == nil {
		return nil
	}
	srv := m.cfg.Server
	undo := m.bringBack("archive", *s, func(now *thread.Status) bool { return !now.Archived.IsZero() }, srv.Unarchive)
	return m.begin("archiving "+s.DisplayName()+" …", s.DisplayName()+" is archived", func(ctx context.Context) error { return srv.Archive(ctx, string(id)) }, &undo)
}

func (m *Model) openDelete(s *thread.Status) {
	id, name := s.ID, s.DisplayName()
	body := []dialog.Line{{Text: "The conversation goes to the bin; files that are not committed are saved first."}}
	if running(s) {
		body = append(body, dialog.Line{Text: "Its agent runs and will be stopped.", Tok: theme.Warn})
	}
	if s.Worktree.Path != "" {
		body = append(body, dialog.Line{Text: "Its worktree goes with it: " + s.Worktree.Path, Tok: theme.Muted})
	}
	m.dialogs.Push(dialog.NewAsk("delete "+name+"?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Delete", Result: deleteIt{id}, Danger: true}).
		Until(func() string {
			if m.tree.Thread(id) == nil {
				return m.gone(id, name)
			}
			return "" // what is archived can be deleted
		}))
}

// remove deletes a thread.
func (m *Model) remove(id thread.ID) tea.Cmd {
	s := m.tree.Thread(id)
	if s == nil {
		return nil
	}
	srv := m.cfg.Server
	undo := m.bringBack("delete", *s, func(*thread.Status) bool { return false }, srv.Undelete)
	return m.begin("deleting "+s.DisplayName()+" …", s.DisplayName()+" is deleted", func(ctx context.Context) error { return srv.Delete(ctx, string(id)) }, &undo)
}

func (m *Model) openStop(s *thread.Status) {
	if !running(s) {
		return
	}
	id, name := s.ID, s.DisplayName()
	m.dialogs.Push(dialog.NewAsk("stop "+s.Agent+" in "+name+"?", dialog.Plain("The thread stays and can be resumed. A turn that it is in the middle of is cut."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Stop", Result: stopIt{id}, Danger: true}).
		Until(func() string {
			if now := m.tree.Thread(id); now == nil || !running(now) {
				return "The agent in " + name + " is not running any more."
			}
			return ""
		}))
}

// openAbandon asks whether to abandon a thread for the reason that was given.
func (m *Model) openAbandon(r dialog.Abandoned) {
	name := m.name(r.ID)
	m.dialogs.Push(dialog.NewAsk("abandon "+name+"?", dialog.Plain("Reason: "+r.Reason, "", "It is marked as abandoned, which cannot be undone. Its conversation and files stay."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Abandon", Result: abandonIt{r}, Danger: true}).
		Until(func() string { return m.gone(r.ID, name) }))
}

// openResumeAll asks whether to start the agents of all interrupted threads.
func (m *Model) openResumeAll() tea.Cmd {
	left := m.interrupted()
	if len(left) == 0 {
		return m.tell(thread.LevelInfo, "nothing is interrupted")
	}
	body := dialog.Plain(dialog.Count(len(left), "agent") + " to start:")
	const most = 8
	for i, id := range left {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(left)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: "  " + m.name(id), Tok: theme.Muted})
	}
	m.dialogs.Push(dialog.NewAsk("resume all?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Resume all", Result: dialog.Resumed{}}).
		Until(func() string {
			if len(m.interrupted()) == 0 {
				return "Nothing is interrupted any more."
			}
			return ""
		}))
	return nil
}

// interrupted lists the threads that can be resumed.
func (m *Model) interrupted() []thread.ID {
	var left []thread.ID
	for _, s := range m.tree.All() {
		if s.State.State == thread.StateInterrupted && s.Archived.IsZero() && s.Outcome.Kind == thread.OutcomeNone {
			left = append(left, s.ID)
		}
	}
	return left
}

// openOffer asks whether to take the fork that is offered.
func (m *Model) openOffer() {
	o := m.offer()
	if o == nil {
		return
	}
	id, in := o.ID, o.Thread
	body := dialog.Plain("A thread for: "+o.Label, "It is offered because "+o.Why+".")
	if o.Prompt != "" {
		body = append(body, dialog.Line{}, dialog.Line{Text: "The prompt is sent there: " + o.Prompt, Tok: theme.Warn})
	}
	m.dialogs.Push(dialog.NewAsk("fork "+m.name(in)+"?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Fork", Result: forkIt{id}}).
		Until(func() string {
			if s := m.tree.Thread(in); s == nil || s.Offer == nil || s.Offer.ID != id {
				return "The offer was answered meanwhile, on another screen or by a verb."
			}
			return ""
		}))
}
