// Package rewind rewinds a thread to an earlier turn. It shows what would change first, and takes a safety checkpoint
// to which undo returns.
package rewind

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature rewinds threads.
type Feature struct {
	*host.Host
	// after refreshes what the screen shows of a thread.
	after func(thread.ID) tea.Cmd
}

// New returns the feature.
func New(h *host.Host, after func(thread.ID) tea.Cmd) *Feature {
	return &Feature{Host: h, after: after}
}

// plan is the turn to which a thread is rewound.
type plan struct {
	id   thread.ID
	at   thread.CheckpointID
	turn int
}

// Open asks whether to rewind the selected thread to a turn, and loads what that would change.
func (f *Feature) Open(id thread.CheckpointID, turn int) tea.Cmd {
	s := f.Threads.Selected()
	if s == nil {
		return nil
	}
	p, name := plan{s.ID, id, turn}, f.Name(s.ID)
	d := dialog.NewAsk(fmt.Sprintf("rewind %s to turn %d", name, turn), dialog.Plain("Checking what would change …"),
		dialog.Cancel("Cancel")).Until(func() string { return f.Gone(p.id, name) })
	f.Dialogs.Push(d)
	q := thread.DiffRequest{Thread: string(p.id), From: string(p.at), To: "now"}
	return host.Call(f.Host, host.Quick, api.Diff.On(f.Server, q), func(files []thread.FileDiff, err error) tea.Cmd {
		f.fill(d, p, files, err)
		return nil
	})
}

// fill fills the dialog with what the rewind would change.
func (f *Feature) fill(d *dialog.Ask, p plan, changed []thread.FileDiff, err error) {
	now := 0
	if s := f.Threads.Thread(p.id); s != nil {
		now = s.Turn
	}
	body := []dialog.Line{}
	if n := now - p.turn; n > 0 {
		body = append(body, dialog.Line{
			Text: fmt.Sprintf("Conversation: back %s, from turn %d to turn %d", plain.Count(n, "turn"), now, p.turn)})
	} else {
		body = append(body, dialog.Line{Text: "Conversation: no change, this is the newest turn"})
	}
	files := err == nil
	var others []string
	if s := f.Threads.Thread(p.id); s != nil {
		others = f.Threads.Sharing(s.Thread)
	}
	if len(others) > 0 {
		body = append(body, dialog.Line{Tok: theme.Warn, Text: "The folder is shared with " + plain.Names(others) +
			". Files that they may have written are left alone."})
	}
	switch {
	case err != nil:
		body = append(body, dialog.Line{Text: "Files: " + err.Error(), Tok: theme.Warn})
	case len(changed) == 0:
		body = append(body, dialog.Line{Text: "Files: no change"})
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
	body = append(body, dialog.Line{}, dialog.Line{Tok: theme.Muted,
		Text: "A safety checkpoint is taken first; " + f.Keys.KeyOf(intent.Undo) + " undoes the rewind."})
	d.Set(body, f.choices(p, files, len(others) > 0)...)
}

func (f *Feature) choices(p plan, files, shared bool) []dialog.Choice {
	req := func(files, talk bool) dialog.Result {
		r := thread.RewindRequest{Thread: string(p.id), At: string(p.at), Files: files, Conversation: talk}
		return host.Do(func() tea.Cmd {
			return tea.Batch(f.Notify(thread.LevelInfo, "Rewinding …"), f.rewind(r))
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
	return host.Call(f.Host, host.Slow, api.Rewind.On(f.Server, r),
		func(report thread.RewindReport, err error) tea.Cmd { return f.rewound(r, report, err) })
}

func (f *Feature) rewound(r thread.RewindRequest, report thread.RewindReport, err error) tea.Cmd {
	if err != nil {
		return f.Fail("rewind", err)
	}
	if report.Safety != "" {
		f.Undo.Add(f.undoStep(r, report))
	}
	text := report.Message
	if text == "" {
		text = fmt.Sprintf("Rewound to turn %d", report.Turn)
	}
	return tea.Batch(f.after(thread.ID(r.Thread)),
		f.Notify(thread.LevelInfo, text+" ("+f.Keys.KeyOf(intent.Undo)+" to undo)"))
}

// undoStep is the step that undoes a rewind, by rewinding to the safety checkpoint that was taken before it.
func (f *Feature) undoStep(done thread.RewindRequest, report thread.RewindReport) host.Step {
	id, turn := thread.ID(done.Thread), report.Turn
	back := done
	back.At = string(report.Safety)
	what := "files"
	switch {
	case back.Files && back.Conversation:
		what = "files and conversation"
	case back.Conversation:
		what = "conversation"
	}
	return host.Step{
		What: fmt.Sprintf("rewind %s to turn %d", f.Name(id), turn),
		Ways: func() ([]dialog.Line, []host.Way) {
			body := dialog.Plain("Restores the " + what + " from before the rewind.")
			if s := f.Threads.Thread(id); s != nil && back.Conversation && s.Turn > turn {
				body = append(body, dialog.Line{Tok: theme.Warn, Text: "Leaves behind " + plain.Count(s.Turn-turn, "turn") +
					" made since then. Undo again to get them back."})
			}
			if back.Files {
				body = append(body, dialog.Line{Tok: theme.Warn,
					Text: "Reverts files changed since then too; a safety checkpoint is taken first."})
			}
			return body, []host.Way{{Label: "Undo", Run: func() tea.Cmd {
				return tea.Batch(f.Notify(thread.LevelInfo, "Undoing …"), f.rewind(back))
			}}}
		},
		Obsolete: func() string {
			if f.Threads.Thread(id) == nil {
				return "The thread no longer exists."
			}
			return ""
		},
	}
}
