package offer

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// openServer asks whether to switch on the offered MCP server.
func (f *Feature) openServer(o *thread.Offer) tea.Cmd {
	id, name := o.ID, o.Server
	body := dialog.Plain("MCP server: "+name, "Offered because "+o.Why+".")
	if key := f.Keys.KeyOf(intent.MCP); key != "" {
		body = append(body, dialog.Line{}, dialog.Line{Tok: theme.Muted,
			Text: key + " shows what its tools take of the context, and switches it off again."})
	}
	f.Dialogs.Push(dialog.NewAsk("switch on "+name+" for "+f.Name(o.Thread)+"?", body, dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Switch on", Result: host.Do(func() tea.Cmd {
			return f.answer("switch on "+name, name+" switched on", id, "take")
		})}).Until(f.answeredElsewhere(o)))
	return nil
}

// openServersOff asks whether to turn off offers of MCP servers. Those of forks stay as they are.
func (f *Feature) openServersOff(o *thread.Offer) tea.Cmd {
	id := o.ID
	f.Dialogs.Push(dialog.NewAsk("offers of MCP servers", dialog.Plain(
		"An MCP server is offered when similar tasks used it, or its description fits the prompt.",
		"Off: none is offered any more. Patterns of servers still switch them on."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Off", Result: host.Do(func() tea.Cmd {
			return f.answer("turn off offers of MCP servers", "Offers of MCP servers: off", id, "off")
		})}).Until(f.answeredElsewhere(o)))
	return nil
}
