// Package undo undoes the last action on this screen, after naming it and asking.
package undo

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Register adds the feature to a host.
func Register(h *host.Host) {
	h.Actions.On(intent.Undo, func() tea.Cmd { return open(h) })
}

// open asks whether to undo the last action.
func open(h *host.Host) tea.Cmd {
	last := h.Undo.Last()
	if last == nil {
		return h.Notify(thread.LevelInfo, "Nothing to undo")
	}
	step := *last
	why := step.CannotUndo
	if why == "" {
		why = step.Obsolete()
	}
	if why != "" {
		h.Undo.Drop()
		body := dialog.Plain(strings.Split(why, "\n")...)
		if before := h.Undo.Last(); before != nil {
			body = append(body, dialog.Line{}, dialog.Line{Text: "Previous action: " + before.What, Tok: theme.Muted})
		}
		h.Dialogs.Push(dialog.NewText("undo: "+step.What, body))
		return nil
	}
	body, ways := step.Ways()
	choices := []dialog.Choice{dialog.Cancel("Cancel")}
	for _, way := range ways {
		choices = append(choices, dialog.Choice{Label: way.Label, Result: host.Do(func() tea.Cmd {
			h.Undo.Drop()
			return way.Run()
		})})
	}
	h.Dialogs.Push(dialog.NewAsk("undo: "+step.What, body, choices...).Until(step.Obsolete))
	return nil
}
