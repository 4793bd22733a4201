// Package styled contains styled text: lines of spans that each have a token of the theme, wrapped to a width. A span
// is a single line of safe text (see package plain). Wrapping keeps every character except the space at a break.
package styled

import (
	"strings"

	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Span is a piece of safe text with its token.
type Span struct {
	Text string
	Tok  theme.Token
	Attr theme.Attr
}

// Line is a line of spans.
type Line struct {
	Spans []Span
	// Ref is what the line belongs to, for its creator; 0 is nothing.
	Ref int
}

// Of returns a line with a single span.
func Of(tok theme.Token, text string) Line { return Line{Spans: []Span{{Text: text, Tok: tok}}} }

// Text returns a line's text.
func (l Line) Text() string { return join(l.Spans) }

func join(spans []Span) string {
	if len(spans) == 1 {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width returns the width of spans in cells.
func Width(spans ...Span) int {
	n := 0
	for _, s := range spans {
		n += plain.Width(s.Text)
	}
	return n
}

// Wrap wraps spans to lines of at most w cells, at spaces if possible.
func Wrap(w int, spans ...Span) []Line { return split(spans, w, false) }

// Break breaks spans into lines of at most w cells, at any character, as for code.
func Break(w int, spans ...Span) []Line { return split(spans, w, true) }

func split(spans []Span, w int, anywhere bool) []Line {
	var out []Line
	i, from := 0, 0 // the span in which a line starts, and the offset of its text
	for start, end := range plain.Breaks(join(spans), w, anywhere) {
		for i < len(spans) && from+len(spans[i].Text) <= start {
			from += len(spans[i].Text)
			i++
		}
		var line Line
		for k, at := i, from; k < len(spans) && at < end; k++ {
			s := spans[k]
			piece := s.Text[max(start-at, 0):min(end-at, len(s.Text))]
			at += len(s.Text)
			if piece == "" {
				continue
			}
			if n := len(line.Spans); n > 0 && line.Spans[n-1].Tok == s.Tok && line.Spans[n-1].Attr == s.Attr {
				line.Spans[n-1].Text += piece
				continue
			}
			s.Text = piece
			line.Spans = append(line.Spans, s)
		}
		out = append(out, line)
	}
	return out
}

// WrapAll wraps safe lines to lines of at most w cells.
func WrapAll(w int, tok theme.Token, lines []string) []Line {
	var out []Line
	for _, l := range lines {
		out = append(out, Wrap(w, Span{Text: l, Tok: tok})...)
	}
	return out
}

// Indent puts a span before the first line and another one before the others.
func Indent(lines []Line, first, rest Span) []Line {
	for i := range lines {
		lines[i].Spans = append([]Span{first}, lines[i].Spans...)
		first = rest
	}
	return lines
}
