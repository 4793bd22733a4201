package offer

import (
	"strings"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Draw draws the offered fork. If the agent has the keyboard, leave is the key that takes it back.
func (f *Feature) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, leave string) {
	o := f.Current()
	if o == nil || b.Empty() {
		return
	}
	words := map[intent.Action]string{
		intent.TakeOffer: "accept", intent.DismissOffer: "dismiss", intent.OffersOff: "turn off",
	}
	var keys strings.Builder
	if leave != "" {
		keys.WriteString("  " + leave + ",")
	}
	for _, k := range f.Keys.Bindings(intent.Offer) {
		keys.WriteString("  " + k.Label() + " " + words[k.Action])
	}
	right := c.PrintRight(b, 1, 0, th.Style(theme.Key), keys.String())
	x := c.Print(b, 1, 0, th.Style(theme.Accent), "⑂ fork? ")
	x = c.Print(b, x, 0, th.Style(theme.Strong), plain.Cut(plain.Line(o.Label), max(right-x-1, 0)))
	c.Print(b, x, 0, th.Style(theme.Muted), plain.Cut(" "+plain.Line(o.Why), max(right-x-1, 0)))
}
