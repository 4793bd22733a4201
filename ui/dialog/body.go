package dialog

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// Line is a line of a dialog's body, in a single style.
type Line = styled.Span

// Plain returns lines of ordinary text.
func Plain(lines ...string) []Line {
	out := make([]Line, len(lines))
	for i, l := range lines {
		out[i] = Line{Text: l}
	}
	return out
}

// wrap wraps lines to a width, keeping their indentation, also after a leading mark, or after a word in the columns
// before hang. Code and changes keep every
// space, and are broken anywhere.
func wrap(lines []Line, w, hang int) []Line {
	var out []Line
	for _, l := range lines {
		l.Text = plain.Line(l.Text)
		head := l.Text[:margin(l.Text, w/2)]
		if n := atColumn(l.Text, hang); head != "" && hang < w && strings.HasSuffix(l.Text[:n], " ") {
			head = l.Text[:n]
		}
		rest := l.Text[len(head):]
		for start, end := range plain.Breaks(rest, w-plain.Width(head), verbatim(l.Tok)) {
			out = append(out, Line{Text: head + rest[start:end], Tok: l.Tok})
			head = strings.Repeat(" ", plain.Width(head))
		}
	}
	return out
}

// atColumn returns how many bytes of a text fill this many columns.
func atColumn(s string, column int) int {
	if column > 0 && column < plain.Width(s) {
		for _, end := range plain.Breaks(s, column, true) {
			return end
		}
	}
	return 0
}

// verbatim reports whether every space of a text counts.
func verbatim(tok theme.Token) bool {
	return tok == theme.Code || tok == theme.DiffAdd || tok == theme.DiffDel
}

// margin returns how many bytes to indent continuation lines by, up to a limit: leading spaces, and a mark before the
// text.
func margin(s string, most int) int {
	n := 0
	for n < len(s) && s[n] == ' ' && n < most {
		n++
	}
	r, size := utf8.DecodeRuneInString(s[n:])
	if unicode.IsSymbol(r) && n+2 <= most && strings.HasPrefix(s[n+size:], " ") {
		n += size + 1
	}
	return n
}

// Scroll is a body that can be longer than its box.
type Scroll struct {
	lines []Line
	// column is the least width of each of two columns, side by side where there is room; 0 means one column.
	column int
	// hang is how far what follows the first row of an indented line is indented.
	hang  int
	win   list.Window
	ended bool // its end was drawn
	toEnd bool // it goes to its end when it is drawn
}

// NewScroll returns a scrollable body.
func NewScroll(lines []Line) Scroll { return Scroll{lines: lines, win: list.Window{Free: true}} }

// columnGap is the space between two columns.
const columnGap = 3

// NewColumns returns a scrollable body in two columns of at least this width each, or in one where there is no room. Its
// indented lines begin with a word in hang columns, under which nothing is written.
func NewColumns(lines []Line, column, hang int) Scroll {
	s := NewScroll(lines)
	s.column, s.hang = column, hang
	return s
}

// across returns how many columns there are in a width, and how wide each is.
func (s *Scroll) across(w int) (n, each int) {
	if s.column > 0 && w >= 2*s.column+columnGap {
		return 2, (w - columnGap) / 2
	}
	return 1, w
}

// Handle scrolls by an action that moves.
func (s *Scroll) Handle(a intent.Action) { s.win.Handle(a) }

// Draw draws the visible part.
func (s *Scroll) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	n, each := s.across(b.W)
	lines := wrap(s.lines, each, s.hang)
	s.win.Fit(len(lines), b.H*n, nil)
	if s.toEnd {
		s.win.Move(len(lines))
		s.toEnd = false
	}
	for i, y := range s.win.Items() {
		column := layout.Box{X: b.X + y/b.H*(each+columnGap), Y: b.Y, W: each, H: b.H}
		c.PrintSpans(column, 0, y%b.H, th, lines[i:i+1])
	}
	s.ended = s.ended || s.win.Below() == 0
	if s.win.Above() > 0 {
		c.PrintRight(b, 0, 0, th.Style(theme.Muted), " ↑")
	}
	if s.win.Below() > 0 {
		c.PrintRight(b, 0, b.H-1, th.Style(theme.Muted), " ↓")
	}
}

// Size returns the size that the lines need within a width.
func (s *Scroll) Size(w int) (int, int) {
	widest := 0
	for _, l := range s.lines {
		widest = max(widest, plain.Width(l.Text))
	}
	widest = min(widest, w)
	if n, each := s.across(w); n > 1 {
		return w, (len(wrap(s.lines, each, s.hang)) + n - 1) / n
	}
	return widest, len(wrap(s.lines, max(widest, 1), s.hang))
}

// Fits reports whether the whole body fits into a box.
func (s *Scroll) Fits(b layout.Box) bool {
	n, each := s.across(b.W)
	return len(wrap(s.lines, each, s.hang)) <= b.H*n
}
