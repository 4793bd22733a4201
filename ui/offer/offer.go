// Package offer shows what is offered for a thread, a fork, an MCP server to switch on or a tool that its base leaves out;
// it takes the user's answers, and sets when forks are offered at all.
package offer

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// New adds the feature to a host.
func New(h *host.Host) *Feature {
	f := &Feature{Host: h, answered: map[string]bool{}}
	h.Actions.On(intent.Offers, f.openModes)
	h.Actions.OnThread(intent.OffersOff, func(*thread.Status) tea.Cmd { return f.openOff() })
	h.Actions.OnThread(intent.TakeOffer, func(*thread.Status) tea.Cmd { return f.open() })
	h.Actions.OnThread(intent.DismissOffer, func(*thread.Status) tea.Cmd { return f.dismiss() })
	return f
}

func (f *Feature) openModes() tea.Cmd {
	f.Dialogs.Push(dialog.NewAsk("fork offers", dialog.Plain(
		"A fork is offered when a prompt changes the subject or the approach, when tools keep failing the same way, "+
			"or when the context is nearly full.",
		"Suggest shows the offer, auto sends such a prompt straight to a fork, off does neither."),
		dialog.Cancel("Cancel"),
		dialog.Choice{Label: "Suggest", Result: f.mode(thread.OffersSuggest)},
		dialog.Choice{Label: "Auto", Result: f.mode(thread.OffersAuto)},
		dialog.Choice{Label: "Off", Result: f.mode(thread.OffersOff)}))
	return nil
}

// openOff asks whether to turn off offers like the current one.
func (f *Feature) openOff() tea.Cmd {
	switch o := f.Current(); {
	case o != nil && o.Server != "":
		return f.openServersOff(o)
	case o != nil && o.Lever != "":
		return f.openBaseOff(o)
	}
	return f.openModes()
}

// open asks whether to accept what is offered.
func (f *Feature) open() tea.Cmd {
	o := f.Current()
	if o == nil {
		return nil
	}
	switch {
	case o.Server != "":
		return f.openServer(o)
	case o.Lever != "":
		return f.takeBack(o)
	}
	id, in := o.ID, o.Thread
	body := dialog.Plain("New thread: "+o.Label, "Offered because "+o.Why+".")
	if o.Prompt != "" {
		body = append(body, dialog.Line{}, dialog.Line{Text: "This prompt is sent to it: " + o.Prompt, Tok: theme.Warn})
	}
	f.Dialogs.Push(dialog.NewAsk("fork "+f.Name(in)+"?", body,
		dialog.Cancel("Cancel"), dialog.Choice{Label: "Fork", Result: host.Do(func() tea.Cmd { return f.take(id) })}).
		Until(f.answeredElsewhere(o)))
	return nil
}

// mode sets when forks are offered.
func (f *Feature) mode(mode thread.OfferMode) host.Do {
	return func() tea.Cmd {
		return f.Change("set fork offers", "Fork offers: "+string(mode),
			api.SetOffers.On(f.Server, api.OffersRequest{Mode: mode}), nil)
	}
}

func (f *Feature) take(id string) tea.Cmd {
	f.answered[id] = true
	return f.Start("fork", "forked", false, api.AnswerOffer.On(f.Server, api.OfferAnswer{Offer: id, Answer: "take"}))
}

func (f *Feature) dismiss() tea.Cmd {
	o := f.Current()
	if o == nil {
		return nil
	}
	return f.answer("dismiss the offer", "Offer dismissed", o.ID, "dismiss")
}
