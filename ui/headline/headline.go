// Package headline draws the first line of the screen: which project it is, how many threads need what, what today has
// cost and how much of a quota is used. It says as much as fits, what needs the person first.
package headline

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/gauge"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Count is how many threads are in a group.
type Count struct {
	Glyph string
	N     int
	Word  string // what they do: "work"; "" has none
	Tok   theme.Token
}

// Facts are what it says.
type Facts struct {
	Project string
	Branch  string // "" if it is not known
	Counts  []Count
	Trouble string // why the counts are not known: "no server"
	Money   Money
}

// Money is what is said of it at the right edge.
type Money struct {
	Today  string // what was spent today: "$12.84"; "" is not known
	Window string // of the limit that is used most: "5h"; "" if there is none
	Share  float64
	Budget string // "budget of group:night"; "" if there is none
	Used   float64
}

const (
	gap     = "  "
	cutName = 24 // cells of a long project name
	// barCells is how long the bar of a limit is.
	barCells = 10
)

// Draw draws it: with words where there is room for them.
func Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, f Facts) {
	for _, form := range []struct {
		branch, words bool
		money         int
	}{{true, true, 3}, {true, true, 2}, {false, true, 2}, {true, false, 2}, {false, false, 2}, {false, false, 1}, {}} {
		left, right := f.left(form.branch, form.words), f.Money.spans(form.money)
		w := styled.Width(right...)
		if form.money > 0 && styled.Width(left...)+w+4 > b.W {
			continue
		}
		c.PrintSpans(b, 1, 0, th, left)
		c.PrintSpans(b, max(b.W-1-w, 1), 0, th, right)
		return
	}
}

// spans returns what is said of money: in form 3 with a bar, in 2 with words, in 1 only what was spent.
func (m Money) spans(form int) []styled.Span {
	if form == 0 || m.Today == "" {
		return nil
	}
	out := []styled.Span{{Text: m.Today}}
	if form == 1 {
		return out
	}
	out = append(out, styled.Span{Text: " today", Tok: theme.Muted})
	if m.Budget != "" {
		out = append(out, styled.Span{Text: gap + m.Budget + " ", Tok: theme.Muted}, styled.Span{Text: thread.Percent(m.Used), Tok: usedTok(m.Used)})
	}
	if m.Window == "" {
		return out
	}
	out = append(out, styled.Span{Text: gap + m.Window + " ", Tok: theme.Muted})
	if form == 3 {
		out = append(append(out, gauge.Line(m.Share, barCells)...), styled.Span{Text: " "})
	}
	tok := theme.Text
	if b := thread.BandOf(m.Share); b != thread.BandNormal && b != thread.BandMasking {
		tok = gauge.Token(b)
	}
	return append(out, styled.Span{Text: thread.Percent(m.Share), Tok: tok})
}

// usedTok is the colour of how much of a budget is used: it is told from 75 % on, and nothing goes on at 100.
func usedTok(share float64) theme.Token {
	switch {
	case share >= 100:
		return theme.Bad
	case share >= 75:
		return theme.Warn
	default:
		return theme.Text
	}
}

// left returns the project and the counts, with branch and words or without.
func (f Facts) left(branch, words bool) []styled.Span {
	out := []styled.Span{{Text: plain.Cut(plain.Line(f.Project), cutName), Tok: theme.Title}}
	if f.Branch != "" && branch {
		out = append(out, styled.Span{Text: " on " + plain.Cut(plain.Line(f.Branch), cutName), Tok: theme.Muted})
	}
	if words {
		out = append(out, styled.Span{Text: gap})
	}
	if f.Trouble != "" {
		return append(out, styled.Span{Text: gap}, styled.Span{Text: f.Trouble, Tok: theme.Bad})
	}
	for _, n := range f.Counts {
		if n.N == 0 {
			continue
		}
		text := fmt.Sprintf("%s %d", n.Glyph, n.N)
		if words && n.Word != "" {
			text += " " + n.Word
		}
		out = append(out, styled.Span{Text: gap}, styled.Span{Text: text, Tok: n.Tok})
	}
	return out
}
