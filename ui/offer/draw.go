package offer

import (
	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/keyhelp"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Draw draws the offer on a rule, and its keys where there is room for them. If the agent has the keyboard, leave is the
// key that takes it back.
func (f *Feature) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, leave string) {
	o := f.Current()
	if o == nil || b.Empty() {
		return
	}
	var keys []styled.Span
	if leave != "" {
		keys = keyhelp.Spans(leave, "")
	}
	for _, k := range f.Keys.Bindings(intent.Offer) {
		keys = append(keys, keyhelp.Spans(k.Label(), f.Word(k.Action))...)
	}
	kind, what := question(o)
	why := " " + plain.Line(o.Why)
	if said := f.fullness(o); said != "" {
		kind, what, why = "", said, ""
	}
	x := c.Print(b, 0, 0, th.Style(theme.Accent), " "+kind)
	x = c.Print(b, x, 0, th.Style(theme.Strong), plain.Cut(what, b.W-x-1))
	x = c.Print(b, x, 0, th.Style(theme.Muted), plain.Cut(why, b.W-x-1)+" ")
	if at := b.W - styled.Width(keys...) - 1; x <= at {
		x = c.PrintSpans(b, at, 0, th, keys)
		c.Print(b, x, 0, th.Style(theme.Muted), " ")
	}
}

// Word is a word for what a key does with the offer.
func (f *Feature) Word(a intent.Action) string {
	switch o := f.Current(); {
	case o != nil && o.Rule == thread.OfferFull && a == intent.TakeOffer:
		return "yes"
	case o != nil && o.Rule == thread.OfferFull && a == intent.DismissOffer:
		return "no"
	case a == intent.DismissOffer:
		return "dismiss"
	case a == intent.OffersOff:
		return "turn off"
	case o != nil && o.Server != "":
		return "switch on"
	case o != nil && o.Lever != "":
		return "restart with it"
	default:
		return "accept"
	}
}

// fullness asks about an offer for a full context, by the share that is used now; "" for another one.
func (f *Feature) fullness(o *thread.Offer) string {
	s := f.Threads.Thread(o.Thread)
	if s == nil || o.Rule != thread.OfferFull || s.Gauge.Window <= 0 {
		return ""
	}
	return "Context " + thread.Percent(s.Gauge.Share()) + ". Go on in a fresh fork?"
}

// question returns what is offered: its kind, and what it is.
func question(o *thread.Offer) (kind, what string) {
	switch {
	case o.Server != "":
		return "mcp ", plain.Line(o.Server) + "?"
	case o.Lever != "":
		return "base ", "needs " + plain.Line(o.Needs) + ":"
	}
	return "◇ fork? ", plain.Line(o.Label)
}
