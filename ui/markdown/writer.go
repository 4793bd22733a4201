package markdown

import (
	"slices"
	"strings"

	"orchestrator/ui/styled"
)

// writer is a layout in progress.
type writer struct {
	src   []byte
	width int
	out   []styled.Line
	// lead starts every line; first starts only the next one.
	lead  []styled.Span
	first []styled.Span

	blocksOfCode []string
}

// room returns how many cells a line has besides its lead.
func (w *writer) room() int { return max(w.width-styled.Width(w.lead...), 8) }

// line writes a line.
func (w *writer) line(spans ...styled.Span) {
	lead := w.lead
	if w.first != nil {
		lead, w.first = w.first, nil
	}
	all := make([]styled.Span, 0, len(lead)+len(spans))
	w.out = append(w.out, styled.Line{Spans: append(append(all, lead...), spans...)})
}

// gap writes an empty line between blocks.
func (w *writer) gap() {
	if n := len(w.out); n > 0 && w.first == nil && strings.TrimSpace(w.out[n-1].Text()) != "" {
		w.line()
	}
}

// within lays out with an additional lead.
func (w *writer) within(lead styled.Span, do func()) {
	was := w.lead
	w.lead = append(append([]styled.Span{}, was...), lead)
	if w.first != nil {
		w.first = append(w.first, lead)
	}
	do()
	for n := len(w.out); n > 0 && len(w.out[n-1].Spans) == len(w.lead) && w.out[n-1].Spans[len(w.lead)-1] == lead; n-- {
		w.out = w.out[:n-1] // no empty line at the end of a quote
	}
	w.lead = was
}

// flow writes spans as lines wrapped at spaces; a newline span ends a line.
func (w *writer) flow(spans []styled.Span) {
	for {
		end := slices.IndexFunc(spans, func(s styled.Span) bool { return s.Text == "\n" })
		part := spans
		if end >= 0 {
			part = spans[:end]
		}
		for _, l := range styled.Wrap(w.room(), part...) {
			w.line(l.Spans...)
		}
		if end < 0 || end == len(spans)-1 {
			return
		}
		spans = spans[end+1:]
	}
}
