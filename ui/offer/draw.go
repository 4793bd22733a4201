package offer

import (
	"strings"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Draw draws the fork that is offered; leave is the key that an agent which has the keys leaves it by.
func (f *Feature) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, leave string) {
	o := f.Current()
	if o == nil || b.Empty() {
		return
	}
	var keys strings.Builder
	if leave != "" { // the agent has the keys
		keys.WriteString("  " + leave + ",")
	}
	for _, k := range f.Keys.Bindings(intent.Offer) {
		word := map[intent.Action]string{intent.TakeOffer: "take", intent.DismissOffer: "dismiss", intent.OffersOff: "off"}[k.Action]
		keys.WriteString("  " + k.Label() + " " + word)
	}
	right := c.PrintRight(b, 1, 0, th.Style(theme.Key), keys.String())
	x := c.Print(b, 1, 0, th.Style(theme.Accent), "⑂ fork? ")
	x = c.Print(b, x, 0, th.Style(theme.Strong), plain.Cut(plain.Line(o.Label), max(right-x-1, 0)))
	c.Print(b, x, 0, th.Style(theme.Muted), plain.Cut(" "+plain.Line(o.Why), max(right-x-1, 0)))
}
