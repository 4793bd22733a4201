package ui

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// undoStep is something that was done on this screen. The newest is what undo is about, whether it can be undone
// or not: it never reaches behind to something else unsaid.
type undoStep struct {
	what string // "archive of auth-feature-a3f2"
	// never says that it cannot be undone, and what is left of it.
	never string
	// ways are the ways to undo it, asked for when the person is asked.
	ways func() (body []dialog.Line, ways []undoing)
	// over says why there is nothing to undo any more, "" while there is.
	over func() string
}

// undoing is a way to undo something.
type undoing struct {
	label string
	run   func() tea.Cmd
}

// did notes what was done.
func (m *Model) did(step undoStep) { m.undo = append(m.undo, step) }

// openUndo asks whether to undo what was done last, by its name.
func (m *Model) openUndo() tea.Cmd {
	n := len(m.undo)
	if n == 0 {
		return m.tell(thread.LevelInfo, "nothing was done here that can be undone")
	}
	step := m.undo[n-1]
	why := step.never
	if why == "" {
		why = step.over()
	}
	if why != "" {
		m.undo = m.undo[:n-1]
		body := dialog.Plain(why)
		if n > 1 {
			body = append(body, dialog.Line{}, dialog.Line{Text: "Before it: " + m.undo[n-2].what + ".", Tok: theme.Muted})
		}
		m.dialogs.Push(dialog.NewText("undo "+step.what, body))
		return nil
	}
	body, ways := step.ways()
	choices := []dialog.Choice{dialog.Cancel("Cancel")}
	for _, way := range ways {
		choices = append(choices, dialog.Choice{Label: way.label, Result: undoIt{way}})
	}
	m.dialogs.Push(dialog.NewAsk("undo "+step.what, body, choices...).Until(step.over))
	return nil
}

// undone undoes what was asked about.
func (m *Model) undone(how undoing) tea.Cmd {
	m.undo = m.undo[:max(len(m.undo)-1, 0)]
	return how.run()
}

// bringBack is the step that undoes an archive or a delete: the thread comes back, its agent only if it ran and
// the person wants that.
func (m *Model) bringBack(what string, s thread.Status, gone func(*thread.Status) bool, back func(context.Context, string) error) undoStep {
	ref, name, ran := string(s.ID), s.DisplayName(), running(&s)
	again := func(resume bool) func() tea.Cmd {
		return func() tea.Cmd {
			said := name + " is back"
			if ran && !resume {
				said += "; its agent was stopped, " + m.keys.KeyOf(intent.Resume) + " resumes it"
			}
			if !resume {
				return m.change(said, func(ctx context.Context) error { return back(ctx, ref) }, nil)
			}
			cols, rows := m.paneSize()
			return m.make("bring back", "is back and resumed", false, func(ctx context.Context) (thread.Status, error) {
				if err := back(ctx, ref); err != nil {
					return thread.Status{}, err
				}
				return m.cfg.Server.Resume(ctx, ref, cols, rows)
			})
		}
	}
	return undoStep{
		what: what + " of " + name,
		over: func() string {
			if now := m.tree.Thread(s.ID); now != nil && !gone(now) && now.Updated.After(s.Updated) {
				return name + " is back already: somebody else did that."
			}
			return ""
		},
		ways: func() ([]dialog.Line, []undoing) {
			if !ran {
				return dialog.Plain(name + " comes back as it was."), []undoing{{"Bring back", again(false)}}
			}
			return dialog.Plain(name + " comes back. Its agent was stopped and can be resumed."),
				[]undoing{{"Bring back", again(false)}, {"Bring back and resume", again(true)}}
		},
	}
}

// unwind is the step that undoes a rewind, by going to the safety point that was taken before it.
func (m *Model) unwind(done rewindMsg) undoStep {
	id, turn := thread.ID(done.req.Thread), done.report.Turn
	back := done.req
	back.At = string(done.report.Safety)
	what := map[[2]bool]string{{true, true}: "files and conversation", {true, false}: "the files", {false, true}: "the conversation"}[[2]bool{back.Files, back.Conversation}]
	return undoStep{
		what: fmt.Sprintf("setting %s back to turn %d", m.name(id), turn),
		ways: func() ([]dialog.Line, []undoing) {
			body := dialog.Plain("Sets " + what + " to what they were before that.")
			if s := m.tree.Thread(id); s != nil && back.Conversation && s.Turn > turn {
				body = append(body, dialog.Line{Text: "Made since then, and left behind: " + dialog.Count(s.Turn-turn, "turn") + ". Undoing this again brings that back.", Tok: theme.Warn})
			}
			if back.Files {
				body = append(body, dialog.Line{Text: "Files changed since then change back, too; a safety point is taken first.", Tok: theme.Warn})
			}
			return body, []undoing{{"Undo", func() tea.Cmd {
				return tea.Batch(m.tell(thread.LevelInfo, "undoing …"), m.rewind(back))
			}}}
		},
		over: func() string {
			if m.tree.Thread(id) == nil {
				return "The thread is gone."
			}
			return ""
		},
	}
}

// rename renames a thread; undoing gives it its name back.
func (m *Model) rename(r dialog.Renamed) tea.Cmd {
	was, srv := m.name(r.ID), m.cfg.Server
	return m.change("", func(ctx context.Context) error {
		_, err := srv.Rename(ctx, string(r.ID), r.Name)
		return err
	}, &undoStep{
		what: "renaming of " + was,
		ways: func() ([]dialog.Line, []undoing) {
			return dialog.Plain("Its name is " + was + " again."), []undoing{{"Rename", func() tea.Cmd {
				return m.change("its name is "+was+" again", func(ctx context.Context) error {
					_, err := srv.Rename(ctx, string(r.ID), was)
					return err
				}, nil)
			}}}
		},
		over: func() string {
			if m.name(r.ID) == was {
				return "Its name is " + was + " already."
			}
			return ""
		},
	})
}
