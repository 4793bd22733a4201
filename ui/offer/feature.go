package offer

import (
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// Feature answers offers.
type Feature struct {
	*host.Host
	// answered has the ids of offers that were answered here: the server withdraws them a little later.
	answered map[string]bool
}

// answeredElsewhere returns a function that says why a question about an offer is obsolete, or "".
func (f *Feature) answeredElsewhere(o *thread.Offer) func() string {
	id, in := o.ID, o.Thread
	return func() string {
		if s := f.Threads.Thread(in); s == nil || s.Offer == nil || s.Offer.ID != id {
			return "The offer was answered from another screen or by a verb."
		}
		return ""
	}
}

// Fork returns the fork offered for the selected thread.
func (f *Feature) Fork() *thread.Offer {
	if o := f.Current(); o != nil && o.Server == "" && o.Lever == "" {
		return o
	}
	return nil
}

// Back returns the lever that is offered back to the selected thread.
func (f *Feature) Back() *thread.Offer {
	if o := f.Current(); o != nil && o.Lever != "" {
		return o
	}
	return nil
}

// Current returns what is offered for the selected thread.
func (f *Feature) Current() *thread.Offer {
	s := f.Threads.Selected()
	if s == nil || s.Offer == nil || f.answered[s.Offer.ID] {
		return nil
	}
	return s.Offer
}

// answer answers an offer, and says what was done.
func (f *Feature) answer(task, done, id, answer string) tea.Cmd {
	f.answered[id] = true
	return f.Change(task, done, api.AnswerOffer.Command().On(f.Server, api.OfferAnswer{Offer: id, Answer: answer}), nil)
}
