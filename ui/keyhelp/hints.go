package keyhelp

import (
	"slices"

	"charm.land/bubbles/v2/key"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Hints are actions with a short word for each, the most important first.
type Hints []hint

type hint struct {
	action intent.Action
	word   string
}

// Add appends an action with its word.
func (h Hints) Add(a intent.Action, word string) Hints { return append(h, hint{a, word}) }

// Spans are two cells, a key and a word for it; a key without a word comes before another one.
func Spans(key, word string) []styled.Span {
	if word == "" {
		return []styled.Span{{Text: "  "}, {Text: key, Tok: theme.Key}, {Text: ",", Tok: theme.Muted}}
	}
	return []styled.Span{{Text: "  "}, {Text: key, Tok: theme.Key}, {Text: " " + word, Tok: theme.Muted}}
}

// Spot is where the hint of an action was drawn.
type Spot struct {
	layout.Box
	Action intent.Action
}

// Foot draws the keys of hints that are bound, the most important first, and how to quit at the right edge. It returns
// where they stand.
func Foot(c *layout.Canvas, b layout.Box, th *theme.Theme, hints Hints, bound []intent.Binding) (spots []Spot) {
	find := func(h hint) (key.Binding, bool) {
		i := slices.IndexFunc(bound, func(k intent.Binding) bool { return k.Action == h.action })
		if i < 0 {
			return key.Binding{}, false
		}
		return bound[i].As(h.word), true
	}
	b = b.Shrink(1, 0)
	if quit, ok := find(hint{intent.Quit, "quit"}); ok {
		var last layout.Box
		b, last = b.Left(b.W - plain.Width(quit.Help().Key+" quit"))
		Draw(c, last, 0, th, []key.Binding{quit})
		spots = append(spots, Spot{last, intent.Quit})
		b.W = max(b.W-2, 0)
	}
	var shown []key.Binding
	var drawn []Spot
	x := b.X
	for _, h := range hints {
		if k, ok := find(h); ok {
			shown = append(shown, k)
			w := plain.Width(k.Help().Key + " " + k.Help().Desc)
			drawn = append(drawn, Spot{layout.Box{X: x, Y: b.Y, W: w, H: 1}, h.action})
			x += w + len(separator)
		}
	}
	end := b.X + Draw(c, b, 0, th, shown)
	return append(spots, slices.DeleteFunc(drawn, func(s Spot) bool { return s.X+s.W > end })...)
}
