package vterm

import (
	"bytes"
	"unicode"
)

// Point is a place in history or screen: a line in the numbering of FirstLine and a column.
type Point struct {
	Line uint64
	X    int
}

// Before orders points as one reads.
func (p Point) Before(q Point) bool {
	return p.Line < q.Line || p.Line == q.Line && p.X < q.X
}

// Selection is a stretch of text from one point to another, both inside.
type Selection struct {
	From, To Point
	Block    bool // a rectangle instead of running text
}

// ordered returns the selection with From before To and, for a block, the columns in order.
func (s Selection) ordered() Selection {
	if s.To.Before(s.From) {
		s.From, s.To = s.To, s.From
	}
	if s.Block && s.From.X > s.To.X {
		s.From.X, s.To.X = s.To.X, s.From.X
	}
	return s
}

// Columns returns the selected columns a..b-1 of a line of the given width.
func (s Selection) Columns(line uint64, cols int) (a, b int, ok bool) {
	s = s.ordered()
	if line < s.From.Line || line > s.To.Line {
		return 0, 0, false
	}
	a, b = 0, cols
	if s.Block || line == s.From.Line {
		a = s.From.X
	}
	if s.Block || line == s.To.Line {
		b = min(s.To.X+1, cols)
	}
	return a, b, a < b
}

// SelectedText returns the text of a selection: wrapped lines joined, trailing blanks of lines left out.
func (t *Terminal) SelectedText(s Selection) string {
	s = s.ordered()
	first := t.FirstLine()
	end := first + uint64(t.History()+t.rows)
	var out []byte
	var cells []Cell
	for n := max(s.From.Line, first); n <= s.To.Line && n < end; n++ {
		var wrapped bool
		cells, wrapped = t.Line(cells[:0], n)
		a, b, ok := s.Columns(n, t.cols)
		joined := wrapped && !s.Block
		var text []byte
		if ok {
			a, b = min(a, len(cells)), min(b, len(cells))
			if a < b && cells[a].Width == 0 {
				a--
			}
			text = appendCells(nil, cells[a:b])
		}
		if !joined {
			text = bytes.TrimRight(text, " ")
		}
		out = append(out, text...)
		if !joined && n < s.To.Line {
			out = append(out, '\n')
		}
	}
	return string(out)
}

// Word returns the word around a point, or the run of blanks or other characters there.
func (t *Terminal) Word(p Point) Selection {
	cells, _ := t.Line(nil, p.Line)
	s := Selection{From: p, To: p}
	if p.X < 0 || p.X >= len(cells) {
		return s
	}
	kind := wordKind(cells[p.X])
	for s.From.X > 0 && (cells[s.From.X].Width == 0 || wordKind(cells[s.From.X-1]) == kind) {
		s.From.X--
	}
	for s.To.X+1 < len(cells) && (cells[s.To.X+1].Width == 0 || wordKind(cells[s.To.X+1]) == kind) {
		s.To.X++
	}
	return s
}

func wordKind(c Cell) int {
	switch r := c.Rune; {
	case c.Width == 0:
		return 1
	case unicode.IsLetter(r) || unicode.IsDigit(r), r == '_', r == '-', r == '.', r == '/', r == '~', r == ':':
		return 1
	case unicode.IsSpace(r):
		return 0
	}
	return 2
}

// Paragraph returns the whole line around a point with what it is wrapped into.
func (t *Terminal) Paragraph(p Point) Selection {
	s := Selection{From: Point{Line: p.Line}, To: Point{Line: p.Line, X: t.cols - 1}}
	for s.From.Line > t.FirstLine() {
		if _, wrapped := t.Line(nil, s.From.Line-1); !wrapped {
			break
		}
		s.From.Line--
	}
	for {
		if _, wrapped := t.Line(nil, s.To.Line); !wrapped {
			return s
		}
		s.To.Line++
	}
}
