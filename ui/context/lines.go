package context

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"

	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Cells of a bar, in a list and in a curve.
const (
	masked = "╱" // what masks leave out
	free   = "·"
)

// longest limits how many bytes of a name are looked at.
const longest = 512

// start returns the start of a long text.
func start(s string) string { return plain.Start(s, longest) }

// sentence returns the start of a long text with a capital letter.
func sentence(s string) string {
	s = plain.Line(start(s))
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// end returns the end of a long text.
func end(s string) string {
	if len(s) <= longest {
		return s
	}
	n := len(s) - longest
	for n < len(s)-longest+utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n++
	}
	return "…" + s[n:]
}

// mono reports whether a theme has no colours.
func mono(th *theme.Theme) bool { return th.Profile() <= colorprofile.ASCII }

// cut returns at most w cells of spans.
func cut(spans []styled.Span, w int) []styled.Span {
	var out []styled.Span
	for _, s := range spans {
		n := plain.Width(s.Text)
		if n > w {
			s.Text = plain.Cut(s.Text, w)
			return append(out, s)
		}
		out = append(out, s)
		w -= n
	}
	return out
}

// flow puts items side by side into lines of at most w cells, with something between them. It leaves out those that
// need more than a number of lines, and reports whether there were none. An item that is wider than a line is cut.
func flow(items [][]styled.Span, between styled.Span, w, most int) (out [][]styled.Span, all bool) {
	room := 0
	for _, it := range items {
		need := styled.Width(it...)
		if gap := plain.Width(between.Text); len(out) > 0 && gap+need <= room {
			out[len(out)-1] = append(append(out[len(out)-1], between), it...)
			room -= gap + need
			continue
		}
		if len(out) == most {
			return out, false
		}
		it = cut(it, w)
		out = append(out, append([]styled.Span(nil), it...))
		room = w - styled.Width(it...)
	}
	return out, true
}
