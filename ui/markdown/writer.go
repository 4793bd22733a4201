package markdown

import (
	"slices"
	"strings"

	"orchestrator/ui/styled"
)

// writer is one layout under way.
type writer struct {
	src   []byte
	width int
	out   []styled.Line
	// lead begins every line; first begins the next one only.
	lead  []styled.Span
	first []styled.Span
}

// room is how many cells a line has beside its lead.
func (w *writer) room() int { return max(w.width-styled.Width(w.lead...), 8) }

// line writes one line.
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

// within lays out with one more lead.
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

// flow writes spans as lines broken at spaces; a span that is a newline ends a line.
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
