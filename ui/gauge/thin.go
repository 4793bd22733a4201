package gauge

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// Thin draws a gauge as a line as wide as the box, in the colour of its band.
func Thin(c *layout.Canvas, b layout.Box, th *theme.Theme, g thread.Gauge) {
	if g.Window <= 0 {
		return
	}
	full := min(int(g.Share()*float64(b.W)/100+0.5), b.W)
	if full == 0 && g.Tokens > 0 && g.Share() >= 1 {
		full = 1
	}
	x := c.Print(b, 0, 0, th.Style(Token(g.Band())), strings.Repeat("━", full))
	c.Print(b, x, 0, th.Style(theme.Track), strings.Repeat("─", b.W-full))
}
