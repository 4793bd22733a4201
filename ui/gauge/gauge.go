// Package gauge draws how full a thread's context is: a bar with ticks at the bands, the tokens, what masks leave out of
// it, and the cost. Numbers that are not from the provider are marked with ~, and with how far off they may be.
package gauge

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Height is the height of the gauge in rows.
const Height = 3

// ticks are the percentages at which bands start.
var ticks = [...]int{30, 60, 90}

// Token returns the style of a band.
func Token(b thread.Band) theme.Token {
	switch b {
	case thread.BandNormal:
		return theme.BandNormal
	case thread.BandMasking:
		return theme.BandMasking
	case thread.BandSummarising:
		return theme.BandSummarising
	default:
		return theme.BandEmergency
	}
}

// Draw draws the gauge of a thread; st is nil if none is selected.
func Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, st *thread.Status) {
	if st == nil {
		c.Print(b, 0, 0, th.Style(theme.Muted), "No thread selected")
		return
	}
	g := st.Gauge
	if g.Tokens == 0 && g.Window == 0 {
		c.Print(b, 0, 0, th.Style(theme.Muted), plain.Cut("No messages yet", b.W))
		return
	}
	Bar(c, b.Row(0), th, g)
	x := c.Print(b, 0, 1, th.Style(theme.Strong), plain.Cut(Numbers(g), b.W))
	if g.Window > 0 {
		c.Print(b, x, 1, th.Style(Token(g.Band())), " "+string(g.Band()))
	}
	var facts []string
	if st.Aside != "" && !st.Launch.NoGateway {
		facts = append(facts, "not through the gateway")
	}
	if g.Masked > 0 {
		facts = append(facts, Masked(g.Masked))
	}
	if usd, known := st.Cost(); known {
		facts = append(facts, Cost(usd))
	}
	if g.Source == "transcript" {
		facts = append(facts, "from transcript")
	}
	if model := plain.Line(g.Model); model != "" {
		facts = append(facts, model)
	}
	c.Print(b, 0, 2, th.Style(theme.Muted), plain.Cut(fitting(facts, b.W), b.W))
}

// fitting joins the first of some facts that fit side by side, and always the first one.
func fitting(facts []string, w int) string {
	line := ""
	for i, f := range facts {
		if i > 0 {
			f = line + " · " + f
			if plain.Width(f) > w {
				break
			}
		}
		line = f
	}
	return line
}

// Bar draws the bar in a single row: a segment for each band in its colour, and what is free of it dimmed.
func Bar(c *layout.Canvas, b layout.Box, th *theme.Theme, g thread.Gauge) {
	share := min(max(g.Share(), 0), 100)
	eighths := int(share * float64(b.W*8) / 100)
	for x := range b.W {
		full := th.Style(Token(thread.BandOf(float64(x*100) / float64(b.W))))
		track := th.Style(theme.Track)
		if th.Profile() > colorprofile.ASCII {
			track = full.Faint(true)
		}
		switch fill := eighths - x*8; {
		case fill >= 8:
			c.Print(b, x, 0, full, "█")
		case fill > 0:
			c.Print(b, x, 0, full, [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[fill])
		case tick(x, b.W):
			c.Print(b, x, 0, track, "│")
		default:
			c.Print(b, x, 0, track, "░")
		}
	}
}

func tick(x, w int) bool {
	for _, t := range ticks {
		if x == t*w/100 {
			return true
		}
	}
	return false
}

// Masked formats tokens that masks leave out.
func Masked(tokens int64) string { return "−" + thread.Tokens(tokens) + " masked" }

// Margin formats by how much a number may be wrong, at least 1 %; "" if that is not known.
func Margin(fraction float64) string {
	if !(fraction > 0) || fraction > 10 { // no number at all, or one that says nothing
		return ""
	}
	return fmt.Sprintf("±%d%%", int(math.Ceil(fraction*100)))
}

// Numbers formats tokens, window and percentage.
func Numbers(g thread.Gauge) string {
	var s strings.Builder
	if g.Estimated {
		s.WriteByte('~')
	}
	s.WriteString(thread.Tokens(g.Tokens))
	if g.Estimated {
		s.WriteString(Margin(g.Margin))
	}
	if g.Window > 0 {
		fmt.Fprintf(&s, "/%s %s", thread.Tokens(g.Window), thread.Percent(g.Share()))
	}
	return s.String()
}

// Cost formats dollars.
func Cost(usd float64) string { return fmt.Sprintf("$%.2f", usd) }
