package gauge

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Line is a share, in per cent, as a thin line of so many cells: those that are filled in the colours of their bands, the
// others quiet.
func Line(share float64, cells int) []styled.Span {
	n := min(max(int(share*float64(cells)/100+0.5), 0), cells)
	if share >= 1 {
		n = min(max(n, 1), cells)
	}
	var out []styled.Span
	for from := 0; from < n; {
		band, to := thread.BandOf(float64(from*100)/float64(cells)), from+1
		for to < n && thread.BandOf(float64(to*100)/float64(cells)) == band {
			to++
		}
		out = append(out, styled.Span{Text: strings.Repeat("━", to-from), Tok: Token(band)})
		from = to
	}
	return append(out, styled.Span{Text: strings.Repeat("─", cells-n), Tok: theme.Track})
}

// Thin draws a gauge as a line as wide as the box.
func Thin(c *layout.Canvas, b layout.Box, th *theme.Theme, g thread.Gauge) {
	if g.Window > 0 {
		c.PrintSpans(b, 0, 0, th, Line(g.Share(), b.W))
	}
}
