package ui

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

func (m *Model) openRewind(id thread.CheckpointID, turn int) tea.Cmd {
	s := m.tree.Selected()
	if s == nil {
		return nil
	}
	at, name := s.ID, s.DisplayName()
	d := dialog.NewAsk(fmt.Sprintf("set %s back to turn %d", name, turn), dialog.Plain("looking what would change …"), dialog.Cancel("Cancel")).
		Until(func() string { return m.gone(at, name) })
	m.dialogs.Push(d)
	return m.planRewind(s.ID, string(id), turn, d)
}

// planned fills the dialog of a rewind.
func (m *Model) planned(msg rewindPlanMsg) {
	now := 0
	if s := m.tree.Thread(msg.id); s != nil {
		now = s.Turn
	}
	body := []dialog.Line{}
	if n := now - msg.turn; n > 0 {
		body = append(body, dialog.Line{Text: "Conversation: " + dialog.Count(n, "turn") + " back, from " + fmt.Sprint(now) + " to " + fmt.Sprint(msg.turn) + "."})
	} else {
		body = append(body, dialog.Line{Text: "Conversation: it is the newest turn."})
	}
	files := msg.err == nil
	var others []string
	if s := m.tree.Thread(msg.id); s != nil {
		others = m.sharing(s.Thread)
	}
	if len(others) > 0 {
		body = append(body, dialog.Line{Text: "Shared folder: of the files only those go back that no other thread can have written, such as " + plain.Names(others) + ".", Tok: theme.Warn})
	}
	switch {
	case msg.err != nil:
		body = append(body, dialog.Line{Text: "Files: " + msg.err.Error(), Tok: theme.Warn})
	case len(msg.files) == 0:
		body = append(body, dialog.Line{Text: "Files: as they were then already."})
	default:
		body = append(body, dialog.Line{Text: "Files: " + rewindCounts(msg.files)})
	}
	const most = 8
	for i, f := range msg.files {
		if i == most {
			body = append(body, dialog.Line{Text: fmt.Sprintf("  … %d more", len(msg.files)-most), Tok: theme.Muted})
			break
		}
		body = append(body, dialog.Line{Text: "  " + f.Path, Tok: theme.Muted})
	}
	body = append(body, dialog.Line{}, dialog.Line{Text: "A safety point is taken first; " + m.keys.KeyOf(intent.Undo) + " brings it back.", Tok: theme.Muted})
	msg.into.Set(body, rewindChoices(msg, files, len(others) > 0)...)
}

// rewindCounts says what goes back: "2 files, 1 line added since and 3 lines removed since".
func rewindCounts(files []thread.FileDiff) string {
	add, del := 0, 0
	for _, f := range files {
		add += f.Insertions
		del += f.Deletions
	}
	verb := func(n int, v string) string {
		if n == 1 {
			return v + "s"
		}
		return v
	}
	s := dialog.Count(len(files), "file")
	if add > 0 {
		s += ", " + dialog.Count(add, "line") + " added since " + verb(add, "leave")
	}
	if del > 0 {
		s += ", " + dialog.Count(del, "line") + " removed since " + verb(del, "come") + " back"
	}
	return s
}

func rewindChoices(msg rewindPlanMsg, files, shared bool) []dialog.Choice {
	req := func(files, talk bool) dialog.Result {
		return rewindIt{thread.RewindRequest{Thread: string(msg.id), At: msg.at, Files: files, Conversation: talk}}
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

func (m *Model) rewound(msg rewindMsg) tea.Cmd {
	if msg.err != nil {
		return m.fail("set back", msg.err)
	}
	id := thread.ID(msg.req.Thread)
	if msg.report.Safety != "" {
		m.did(m.unwind(msg))
	}
	text := msg.report.Message
	if text == "" {
		text = fmt.Sprintf("set back to turn %d", msg.report.Turn)
	}
	if m.views.timeline.Thread() == id {
		m.views.timeline.Show(id)
	}
	return tea.Batch(m.fill(), m.tell(thread.LevelInfo, text+"; "+m.keys.KeyOf(intent.Undo)+" takes it back"))
}
