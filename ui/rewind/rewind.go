// Package rewind sets a thread back to an earlier turn: it shows first what would change, and undoing goes to the
// safety point that was taken before.
package rewind

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Server is what a rewind needs of the server.
type Server interface {
	Diff(context.Context, thread.DiffRequest) ([]thread.FileDiff, error)
	Rewind(context.Context, thread.RewindRequest) (thread.RewindReport, error)
}

// Feature sets threads back.
type Feature struct {
	*host.Host
	srv Server
	// after brings what is on show of a thread up to date.
	after func(thread.ID) tea.Cmd
}

// New makes the feature.
func New(h *host.Host, srv Server, after func(thread.ID) tea.Cmd) *Feature {
	return &Feature{Host: h, srv: srv, after: after}
}

// plan is where a thread is to be set back to.
type plan struct {
	id   thread.ID
	at   thread.CheckpointID
	turn int
}

// Open asks whether to set the selected thread back to a turn, and looks what that would change.
func (f *Feature) Open(id thread.CheckpointID, turn int) tea.Cmd {
	s := f.Threads.Selected()
	if s == nil {
		return nil
	}
	p, name := plan{s.ID, id, turn}, s.DisplayName()
	d := dialog.NewAsk(fmt.Sprintf("set %s back to turn %d", name, turn), dialog.Plain("looking what would change …"),
		dialog.Cancel("Cancel")).Until(func() string { return f.Gone(p.id, name) })
	f.Dialogs.Push(d)
	return host.Call(f.Host, host.Quick, func(ctx context.Context) ([]thread.FileDiff, error) {
		return f.srv.Diff(ctx, thread.DiffRequest{Thread: string(p.id), From: string(p.at), To: "now"})
	}, func(files []thread.FileDiff, err error) tea.Cmd {
		f.fill(d, p, files, err)
		return nil
	})
}

// fill puts what a rewind would change into its dialog.
func (f *Feature) fill(d *dialog.Ask, p plan, changed []thread.FileDiff, err error) {
	now := 0
	if s := f.Threads.Thread(p.id); s != nil {
		now = s.Turn
	}
	body := []dialog.Line{}
	if n := now - p.turn; n > 0 {
		body = append(body, dialog.Line{Text: "Conversation: " + plain.Count(n, "turn") + " back, from " + fmt.Sprint(now) + " to " + fmt.Sprint(p.turn) + "."})
	} else {
		body = append(body, dialog.Line{Text: "Conversation: it is the newest turn."})
	}
	files := err == nil
	var others []string
	if s := f.Threads.Thread(p.id); s != nil {
		others = f.Threads.Sharing(s.Thread)
	}
	if len(others) > 0 {
		body = append(body, dialog.Line{Text: "Shared folder: of the files only those go back that no other thread can have written, such as " + plain.Names(others) + ".", Tok: theme.Warn})
	}
	switch {
	case err != nil:
		body = append(body, dialog.Line{Text: "Files: " + err.Error(), Tok: theme.Warn})
	case len(changed) == 0:
		body = append(body, dialog.Line{Text: "Files: as they were then already."})
	default:
		body = append(body, dialog.Line{Text: "Files: " + counts(changed)})
	}
	const most = 8
	for i, file := range changed {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(changed)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: "  " + file.Path, Tok: theme.Muted})
	}
	body = append(body, dialog.Line{}, dialog.Line{Text: "A safety point is taken first; " + f.Keys.KeyOf(intent.Undo) + " brings it back.", Tok: theme.Muted})
	d.Set(body, f.choices(p, files, len(others) > 0)...)
}

func (f *Feature) choices(p plan, files, shared bool) []dialog.Choice {
	req := func(files, talk bool) dialog.Result {
		r := thread.RewindRequest{Thread: string(p.id), At: string(p.at), Files: files, Conversation: talk}
		return host.Do(func() tea.Cmd {
			return tea.Batch(f.Tell(thread.LevelInfo, "setting back …"), f.rewind(r))
		})
	}
	talk := dialog.Choice{Label: "Conversation", Result: req(false, true), Danger: true}
	if !files {
		return []dialog.Choice{dialog.Cancel("Cancel"), talk}
	}
	all := dialog.Choice{Label: "Both", Result: req(true, true), Danger: true}
	own := dialog.Choice{Label: "Files", Result: req(true, false), Danger: true}
	if shared {
		return []dialog.Choice{dialog.Cancel("Cancel"), talk, own, all}
	}
	return []dialog.Choice{dialog.Cancel("Cancel"), all, own, talk}
}

func (f *Feature) rewind(r thread.RewindRequest) tea.Cmd {
	return host.Call(f.Host, host.Slow,
		func(ctx context.Context) (thread.RewindReport, error) { return f.srv.Rewind(ctx, r) },
		func(report thread.RewindReport, err error) tea.Cmd { return f.rewound(r, report, err) })
}

func (f *Feature) rewound(r thread.RewindRequest, report thread.RewindReport, err error) tea.Cmd {
	if err != nil {
		return f.Fail("set back", err)
	}
	if report.Safety != "" {
		f.Undo.Did(f.unwind(r, report))
	}
	text := report.Message
	if text == "" {
		text = fmt.Sprintf("set back to turn %d", report.Turn)
	}
	return tea.Batch(f.after(thread.ID(r.Thread)), f.Tell(thread.LevelInfo, text+"; "+f.Keys.KeyOf(intent.Undo)+" takes it back"))
}

// unwind is the step that undoes a rewind, by going to the safety point that was taken before it.
func (f *Feature) unwind(done thread.RewindRequest, report thread.RewindReport) host.Step {
	id, turn := thread.ID(done.Thread), report.Turn
	back := done
	back.At = string(report.Safety)
	what := map[[2]bool]string{{true, true}: "files and conversation", {true, false}: "the files", {false, true}: "the conversation"}[[2]bool{back.Files, back.Conversation}]
	return host.Step{
		What: fmt.Sprintf("setting %s back to turn %d", f.Name(id), turn),
		Ways: func() ([]dialog.Line, []host.Way) {
			body := dialog.Plain("Sets " + what + " to what they were before that.")
			if s := f.Threads.Thread(id); s != nil && back.Conversation && s.Turn > turn {
				body = append(body, dialog.Line{Text: "Made since then, and left behind: " + plain.Count(s.Turn-turn, "turn") + ". Undoing this again brings that back.", Tok: theme.Warn})
			}
			if back.Files {
				body = append(body, dialog.Line{Text: "Files changed since then change back, too; a safety point is taken first.", Tok: theme.Warn})
			}
			return body, []host.Way{{Label: "Undo", Run: func() tea.Cmd {
				return tea.Batch(f.Tell(thread.LevelInfo, "undoing …"), f.rewind(back))
			}}}
		},
		Over: func() string {
			if f.Threads.Thread(id) == nil {
				return "The thread is gone."
			}
			return ""
		},
	}
}
