// Package messages shows the log of notices, newest first.
package messages

import (
	"slices"

	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Register adds the feature to a host.
func Register(h *host.Host) {
	h.Actions.On(intent.Messages, func() tea.Cmd {
		var body []dialog.Line
		for _, n := range slices.Backward(h.Notices.All()) {
			body = append(body, dialog.Line{Text: n.At.Format("15:04:05 ") + n.String(), Tok: n.Token()})
		}
		if len(body) == 0 {
			body = dialog.Plain("No messages yet.")
		}
		h.Dialogs.Push(dialog.NewText("messages", body))
		return nil
	})
}
