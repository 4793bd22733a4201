package offer

import (
	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// takeBack gives the thread back what its base leaves out: its agent is restarted only while it waits, and goes on with
// its conversation. It is asked first whether an agent that was kept from changing anything shall be able to: the agent
// itself may have brought the offer about.
func (f *Feature) takeBack(o *thread.Offer) tea.Cmd {
	name, in, id := plain.Line(o.Needs), f.Name(o.Thread), o.ID
	take := func() tea.Cmd {
		return f.answer("restart with "+name, in+" restarts with "+name+" once it waits", id, "take")
	}
	if s := f.Threads.Selected(); s != nil && !s.Base.Guards(o.Lever) {
		return take()
	}
	f.Dialogs.Push(dialog.NewAsk("give "+in+" "+name+"?", dialog.Plain(
		"Its base leaves it out. With it, the agent may be able to do more than you allowed. Offered because "+plain.Line(o.Why)+".",
		"The agent is restarted once it waits, and goes on with its conversation; commands that it runs in the background end."),
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Restart", Result: host.Do(take)}).Until(f.answeredElsewhere(o)))
	return nil
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
