package offer

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// takeBack gives the thread back what its base leaves out. There is nothing to confirm: its agent is restarted only while
// it waits, and goes on with its conversation.
func (f *Feature) takeBack(o *thread.Offer) tea.Cmd {
	name := plain.Line(o.Needs)
	return f.answer("restart with "+name, f.Name(o.Thread)+" restarts with "+name+" once it waits", o.ID, "take")
}

// openBaseOff asks whether to turn off offers of what bases leave out. Those of forks and servers stay as they are.
func (f *Feature) openBaseOff(o *thread.Offer) tea.Cmd {
	id := o.ID
	f.Dialogs.Push(dialog.NewAsk("offers of left out tools", dialog.Plain(
		"A tool that an agent's base leaves out is offered back when the agent calls it, or a prompt of yours speaks of what "+
			"it is for.",
		"Off: none is offered any more. `orchestrator context base THREAD --set full` still gives a thread all of them."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Off", Result: host.Do(func() tea.Cmd {
			return f.answer("turn off offers of left out tools", "Offers of left out tools: off", id, "off")
		})}).Until(f.answeredElsewhere(o)))
	return nil
}
