package context

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// entry is what a colour or pattern of a bar stands for.
type entry struct {
	cell, name string
	tok        theme.Token
	tokens     int64
	outside    bool // not a part of the window
}

// entries returns what the cells of a bar stand for.
func entries(fills []fill, s scale, th *theme.Theme) []entry {
	var out []entry
	for _, f := range fills {
		out = append(out, entry{cell: f.cell(th), name: f.name, tok: f.tok, tokens: f.tokens})
	}
	if s.masked > 0 {
		out = append(out, entry{cell: masked, name: "masked", tok: theme.Muted, tokens: s.masked, outside: s.window > 0})
	}
	if s.window > 0 {
		out = append(out, entry{cell: free, name: "free", tok: theme.Track, tokens: max(s.window-s.tokens, 0)})
	}
	return out
}

// legend lays out entries in a number of lines: in columns if they fit, else one after the other, with shorter names,
// and at last without their shares.
func legend(all []entry, s scale, w, most int) [][]styled.Span {
	lines, fits := grid(spansOf(all, 18, s.whole()), w, most)
	for _, way := range []struct {
		name  int
		whole float64
	}{{18, s.whole()}, {12, s.whole()}, {18, 0}, {12, 0}} {
		if !fits {
			lines, fits = flow(spansOf(all, way.name, way.whole), styled.Span{Text: "  "}, w, most)
		}
	}
	return lines
}

// spansOf returns entries with names of at most some cells, and their shares of a whole, if that is not 0.
func spansOf(all []entry, name int, whole float64) [][]styled.Span {
	out := make([][]styled.Span, len(all))
	for i, e := range all {
		said := " " + thread.Tokens(e.tokens)
		if whole > 0 && !e.outside {
			said += " " + thread.Percent(float64(e.tokens)*100/whole)
		}
		out[i] = []styled.Span{{Text: e.cell + " ", Tok: e.tok}, {Text: plain.Cut(e.name, name)},
			{Text: said, Tok: theme.Muted}}
	}
	return out
}

// grid puts items into columns of the same width, in reading order, if they need no more than a number of lines.
func grid(items [][]styled.Span, w, most int) ([][]styled.Span, bool) {
	const gap = 3
	widest := 1
	for _, it := range items {
		widest = max(widest, styled.Width(it...))
	}
	columns := max(min((w+gap)/(widest+gap), len(items)), 1)
	rows := (len(items) + columns - 1) / columns
	if widest > w || rows > most {
		return nil, false
	}
	columns = (len(items) + max(rows, 1) - 1) / max(rows, 1) // as many in each line
	var out [][]styled.Span
	for i, it := range items {
		if i%columns == 0 {
			out = append(out, nil)
		}
		line := &out[len(out)-1]
		*line = append(*line, it...)
		*line = append(*line, styled.Span{Text: fmt.Sprintf("%*s", widest+gap-styled.Width(it...), "")})
	}
	return out, true
}
