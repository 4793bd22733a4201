package offer

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Draw draws the offer. If the agent has the keyboard, leave is the key that takes it back.
func (f *Feature) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, leave string) {
	o := f.Current()
	if o == nil || b.Empty() {
		return
	}
	words := map[intent.Action]string{
		intent.TakeOffer: "accept", intent.DismissOffer: "dismiss", intent.OffersOff: "turn off",
	}
	if o.Server != "" {
		words[intent.TakeOffer] = "switch on"
	}
	var keys strings.Builder
	if leave != "" {
		keys.WriteString("  " + leave + ",")
	}
	for _, k := range f.Keys.Bindings(intent.Offer) {
		keys.WriteString("  " + k.Label() + " " + words[k.Action])
	}
	right := c.PrintRight(b, 1, 0, th.Style(theme.Key), keys.String())
	kind, what := question(o)
	x := c.Print(b, 1, 0, th.Style(theme.Accent), kind)
	x = c.Print(b, x, 0, th.Style(theme.Strong), plain.Cut(what, max(right-x-1, 0)))
	c.Print(b, x, 0, th.Style(theme.Muted), plain.Cut(" "+plain.Line(o.Why), max(right-x-1, 0)))
}

// question returns what is offered: its kind, and what it is.
func question(o *thread.Offer) (kind, what string) {
	if o.Server != "" {
		return "mcp ", plain.Line(o.Server) + "?"
	}
	return "⑂ fork? ", plain.Line(o.Label)
}
