package vterm

import (
	"strings"
	"unicode/utf8"
)

// Cell is one position of a line as it is drawn. Width 0 is the right half of the wide character
// before it. Cluster holds the text when it is more than one code point; else it is Rune.
type Cell struct {
	Rune    rune
	Width   uint8
	Cluster string
	Style   Style
}

// AppendText appends the text of the cell.
func (c Cell) AppendText(dst []byte) []byte {
	if c.Cluster != "" {
		return append(dst, c.Cluster...)
	}
	return utf8.AppendRune(dst, c.Rune)
}

func (t *Terminal) view(c cell) Cell {
	v := Cell{Rune: rune(c.ch), Width: uint8(c.width()), Style: t.styles.vals[c.style()]}
	if c.ch&clusterBit != 0 {
		v.Cluster = t.clusters.vals[c.ch&^clusterBit]
		v.Rune, _ = utf8.DecodeRuneInString(v.Cluster)
	}
	return v
}

// Row appends line y of the screen, padded to the width with blanks.
func (t *Terminal) Row(dst []Cell, y int) []Cell {
	if y < 0 || y >= t.rows {
		return dst
	}
	n := len(dst)
	dst = t.appendRow(dst, t.scr.rows[y])
	for len(dst)-n < t.cols {
		dst = append(dst, Cell{Rune: ' ', Width: 1})
	}
	return dst
}

func (t *Terminal) appendRow(dst []Cell, r *row) []Cell {
	for _, c := range r.cells[:r.used] {
		dst = append(dst, t.view(c))
	}
	return dst
}

// History is the number of lines above the screen that are kept. In the alternate screen there is none.
func (t *Terminal) History() int {
	if t.scr == &t.alt {
		return 0
	}
	return t.history.count
}

// FirstLine is the number of the oldest line that is kept, counting every line the terminal ever had since
// its last reflow. Line numbers stay with their text while output runs; the screen begins at
// FirstLine() + History().
func (t *Terminal) FirstLine() uint64 {
	return t.scrolled - uint64(t.History())
}

// Line appends line n, in the numbering of FirstLine, without padding. wrapped tells that its text
// continues in line n+1.
func (t *Terminal) Line(dst []Cell, n uint64) (cells []Cell, wrapped bool) {
	first := t.FirstLine()
	if n < first {
		return dst, false
	}
	i := n - first
	if h := uint64(t.History()); i >= h {
		if i -= h; i >= uint64(t.rows) {
			return dst, false
		}
		r := t.scr.rows[i]
		return t.appendRow(dst, r), r.wrapped
	}
	u := newUnpacker(t.history.line(int(i)))
	for u.next() {
		c := Cell{Style: u.style, Width: 1}
		if u.kind == runWide || u.kind == runClusterW {
			c.Width = 2
		}
		if u.kind >= runCluster {
			c.Cluster = string(u.text)
			c.Rune, _ = utf8.DecodeRune(u.text)
			dst = appendView(dst, c)
			continue
		}
		for b := u.text; len(b) > 0; {
			r, n := utf8.DecodeRune(b)
			b = b[n:]
			c.Rune = r
			dst = appendView(dst, c)
		}
	}
	return dst, u.wrapped
}

func appendView(dst []Cell, c Cell) []Cell {
	dst = append(dst, c)
	if c.Width == 2 {
		dst = append(dst, Cell{Rune: ' ', Style: c.Style})
	}
	return dst
}

// Text returns the screen as lines without trailing blanks.
func (t *Terminal) Text() string {
	var b strings.Builder
	for y := range t.rows {
		if y > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(t.RowText(y))
	}
	return b.String()
}

// Blank reports whether nothing is on the screen.
func (t *Terminal) Blank() bool {
	for y := range t.rows {
		r := t.scr.rows[y]
		for _, c := range r.cells[:r.used] {
			if c.width() > 0 && strings.TrimSpace(t.text(c.ch)) != "" {
				return false
			}
		}
	}
	return true
}

// RowText returns line y of the screen without trailing blanks.
func (t *Terminal) RowText(y int) string {
	if y < 0 || y >= t.rows {
		return ""
	}
	r := t.scr.rows[y]
	var b strings.Builder
	for _, c := range r.cells[:r.used] {
		if c.width() > 0 {
			b.WriteString(t.text(c.ch))
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func appendCells(dst []byte, cells []Cell) []byte {
	for _, c := range cells {
		if c.Width > 0 {
			dst = c.AppendText(dst)
		}
	}
	return dst
}
