// Package gauge draws how full a thread's context is: a bar with ticks at the bands, the tokens, what masks leave out of
// it, and the cost. Numbers that are not from the provider are marked with ~, and with how far off they may be.
package gauge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Rows is how many rows the gauge takes with its facts.
const Rows = 2

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

// narrow is the width of a bar below which the share is left out beside it.
const narrow = 14

// Draw draws the gauge of a thread: a bar with its numbers, and in a second row, if there is one, what masks leave out,
// what comes next, more facts, and at the right edge what it cost and what masks have saved.
func Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, st *thread.Status, more ...string) {
	g := st.Gauge
	if g.Tokens == 0 && g.Window == 0 {
		c.Print(b, 0, 0, th.Style(theme.Muted), plain.Cut("No messages yet", b.W))
	} else {
		drawNumbers(c, b.Row(0), th, g)
	}
	row := b.Row(1)
	if row.Empty() {
		return
	}
	var money []string
	if cost := st.Money(); cost != "" {
		money = append(money, cost)
	}
	if g.SavedUSD >= 0.005 {
		money = append(money, "saved "+Cost(g.SavedUSD))
	}
	room := b.W
	if st.Gauge.Base > 0 && len(money) > 0 {
		room -= plain.Width(money[0]) + 2
	}
	left := fitting(append(facts(st, room), more...), room)
	for n := len(money); n >= 0; n-- { // what is spent is more important than what is saved
		right := strings.Join(money[:n], " · ")
		if plain.Width(left)+plain.Width(right)+2 > b.W && n > 0 {
			continue
		}
		c.PrintRight(row, 0, 0, th.Style(theme.Muted), right)
		break
	}
	c.Print(row, 0, 0, th.Style(theme.Muted), plain.Cut(left, b.W))
}

// drawNumbers draws the bar and its numbers in one row.
func drawNumbers(c *layout.Canvas, b layout.Box, th *theme.Theme, g thread.Gauge) {
	tok := theme.Text
	if g.Share() >= summaryAt {
		tok = Token(g.Band())
	}
	numbers := Numbers(g)
	if b.W-plain.Width(numbers)-1 < narrow {
		g.Estimated = g.Estimated && b.W > 24
		numbers = strings.TrimSuffix(Numbers(g), " "+thread.Percent(g.Share()))
		if g.Share() > 100 {
			numbers = thread.Percent(g.Share()) // how far beyond is more important than of what
		}
	}
	numbers = plain.Cut(numbers, b.W)
	if g.Window <= 0 {
		c.Print(b, 0, 0, th.Style(tok), numbers+" tokens, window unknown")
		return
	}
	at := c.PrintRight(b, 0, 0, th.Style(tok), numbers)
	bar, _ := b.Left(at - 1)
	Bar(c, bar, th, g)
}

// summaryAt is the share at which older turns can be summarised.
const summaryAt = 60

// facts are what is said below the bar, the most important first, for a width.
func facts(st *thread.Status, w int) []string {
	g := st.Gauge
	var facts []string
	if st.Aside != "" && !st.Launch.NoGateway {
		facts = append(facts, "not through the gateway")
	}
	apart := Apart(g)
	if g.Masked > 0 {
		apart = append(apart, "masked "+thread.Tokens(g.Masked))
	}
	if len(apart) > 2 && plain.Width(strings.Join(apart, " · ")) > w {
		apart = slices.Delete(apart, 1, 2) // the history is what remains
	}
	facts = append(facts, apart...)
	switch share := g.Share(); {
	case g.Window <= 0:
	case share >= summaryAt:
		facts = append(facts, string(g.Band()))
	case share >= float64(ticks[0]):
		facts = append(facts, fmt.Sprintf("summary at %d %%", summaryAt))
	}
	if g.Source == "transcript" {
		facts = append(facts, "from transcript")
	}
	return facts
}

// Apart tells what the agent sends before a word is said apart from what was said; nothing if that is not known.
func Apart(g thread.Gauge) []string {
	if g.Base <= 0 || g.Tokens <= 0 {
		return nil
	}
	return []string{"base " + thread.Tokens(min(g.Base, g.Tokens)), "history " + thread.Tokens(g.History())}
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

// Bar draws the bar in a single row: a segment for each band in its colour, what is free of it dimmed, and a tick where
// a band begins. A context that is larger than its window sticks out of it: the bar then is as long as the context, and a
// mark in it is the end of the window.
func Bar(c *layout.Canvas, b layout.Box, th *theme.Theme, g thread.Gauge) {
	share := max(g.Share(), 0)
	whole := max(share, 100) // what the width of the bar stands for
	filled := int(share * float64(b.W) / whole)
	if share > 0 {
		filled = max(filled, 1)
	}
	end := b.W
	if whole > 100 {
		end = min(int(100*float64(b.W)/whole), b.W-2)
	}
	for x := range b.W {
		full := th.Style(Token(thread.BandOf(float64(x) * whole / float64(b.W))))
		track := th.Style(theme.Track)
		if th.Profile() > colorprofile.ASCII {
			track = full.Faint(true)
		}
		switch {
		case x == end:
			c.Print(b, x, 0, full, "┃")
		case x > end:
			c.Print(b, x, 0, full, "╍")
		case x < filled:
			c.Print(b, x, 0, full, "━")
		case tick(x, b.W):
			c.Print(b, x, 0, track, "┊")
		default:
			c.Print(b, x, 0, track, "╌")
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

// Of formats tokens, window and percentage for a sentence.
func Of(g thread.Gauge) string {
	mark := ""
	if g.Estimated {
		mark = "~"
	}
	return fmt.Sprintf("%s%s of %s (%s)", mark, thread.Tokens(g.Tokens), thread.Tokens(g.Window), thread.Percent(g.Share()))
}

// Cost formats dollars.
func Cost(usd float64) string { return fmt.Sprintf("$%.2f", usd) }
