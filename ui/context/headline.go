package context

import (
	"fmt"
	"math"

	"orchestrator/thread"
	"orchestrator/ui/gauge"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// narrow is the width below which words are left out, in cells.
const narrow = 70

// headline returns the facts at the top, for a width: how full the context is, what is masked, what that saved, and the
// mode.
func headline(r thread.ContextReport, modeKey string, w int) [][]styled.Span {
	items := [][]styled.Span{size(r)}
	add := func(tok theme.Token, text string) {
		if text != "" {
			items = append(items, []styled.Span{{Text: text, Tok: tok}})
		}
	}
	for _, what := range gauge.Apart(thread.Gauge{Tokens: max(r.Tokens, 0), Base: r.Base}) {
		add(theme.Text, what)
	}
	if r.Masked > 0 {
		add(theme.Good, gauge.Masked(r.Masked))
	}
	for _, sum := range r.Summaries {
		if sum.Stands {
			add(theme.Good, "summary "+thread.Tokens(max(sum.Tokens, 0))+" for "+thread.Tokens(max(sum.Replaced, 0)))
		}
	}
	net := " net of cache writes"
	if w < narrow {
		net = " net"
	}
	switch usd := r.SavedUSD; {
	case usd >= 0.005:
		add(theme.Good, "saved "+gauge.Cost(usd)+net)
	case usd <= -0.005:
		add(theme.Warn, "cost "+gauge.Cost(math.Abs(usd))+" so far")
	}
	items = append(items, mode(r, modeKey))
	if r.Rereads > 0 {
		add(theme.Muted, plain.Count(r.Rereads, "masked result")+" read again")
	}
	add(theme.Muted, plain.Line(start(r.Model)))
	return items
}

// size returns the tokens, by how much they may be wrong, their share and the band.
func size(r thread.ContextReport) []styled.Span {
	g := thread.Gauge{Tokens: max(r.Tokens, 0), Window: r.Window}
	out := []styled.Span{{Text: thread.Tokens(g.Tokens), Tok: theme.Strong}}
	if m := gauge.Margin(r.Margin); m != "" {
		out = append(out, styled.Span{Text: m, Tok: theme.Muted})
	}
	if g.Window <= 0 {
		return append(out, styled.Span{Text: " tokens (window unknown)", Tok: theme.Muted})
	}
	return append(out,
		styled.Span{Text: fmt.Sprintf("/%s %s", thread.Tokens(g.Window), thread.Percent(g.Share())), Tok: theme.Strong},
		styled.Span{Text: " " + string(g.Band()), Tok: gauge.Token(g.Band())})
}

// grows forecasts when the context reaches the next share at which something is offered, "" if that cannot be said.
func grows(r thread.ContextReport) string {
	share := thread.Gauge{Tokens: r.Tokens, Window: r.Window}.Share()
	for _, next := range []float64{60, 90} {
		if share >= next {
			continue
		}
		if turns, known := thread.TurnsTo(r.Curve, r.Window, next); known {
			return "≈ " + plain.Count(turns, "turn") + " to " + thread.Percent(next)
		}
		break
	}
	return ""
}

// mode returns the mode and why it is in force; where nothing is masked, also the key that changes it.
func mode(r thread.ContextReport, key string) []styled.Span {
	word := plain.Line(start(string(r.Mode)))
	if word == "" {
		word = "default"
	}
	out := []styled.Span{{Text: "mode ", Tok: theme.Muted}, {Text: word, Tok: theme.Accent}}
	if why := plain.Line(start(r.Why)); why != "" {
		out = append(out, styled.Span{Text: ": " + why, Tok: theme.Muted})
	}
	if (r.Mode == thread.MaskObserve || r.Mode == thread.MaskOff) && key != "" {
		out = append(out, styled.Span{Text: ", ", Tok: theme.Muted}, styled.Span{Text: key, Tok: theme.Key},
			styled.Span{Text: " to change", Tok: theme.Muted})
	}
	return out
}
