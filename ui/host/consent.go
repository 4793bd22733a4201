package host

import (
	"orchestrator/thread/typing"
	"orchestrator/ui/dialog"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// TypeLines asks before a text of several lines is typed into a program that may run each of them, and does it with the
// person's consent. Any other text needs none.
func (h *Host) TypeLines(runsLines bool, text string, do func(lines bool) tea.Cmd) tea.Cmd {
	if !runsLines || !typing.Lines(text) {
		return do(false)
	}
	body := dialog.Plain("This program may run each line that is typed into it, as a shell does:", "")
	for _, l := range plain.Lines(text) {
		body = append(body, dialog.Line{Text: "  " + l, Tok: theme.Warn})
	}
	h.Dialogs.Push(dialog.NewAsk("type several lines?", body, dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Type them", Result: Do(func() tea.Cmd { return do(true) }), Danger: true, Read: true}))
	return nil
}

// HandOver asks whether a line with the path of the handoff is typed into a program that may run it, and goes on either
// way.
func (h *Host) HandOver(runsLines bool, do func(agreed bool) tea.Cmd) tea.Cmd {
	if !runsLines {
		return do(false)
	}
	h.Dialogs.Push(dialog.NewAsk("type the path of the handoff?", dialog.Plain(
		"The conversation is written to a file, primer.md. This program may run what is typed into it, as a shell does, "+
			"so nothing of the conversation is typed.", "",
		"One line can be typed that names the file: Read …/primer.md"),
		dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Type nothing", Result: Do(func() tea.Cmd { return do(false) })},
		dialog.Choice{Label: "Type the line", Result: Do(func() tea.Cmd { return do(true) })}))
	return nil
}
