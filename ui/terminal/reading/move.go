package reading

import (
	"unicode"

	"orchestrator/agent/vterm"
	"orchestrator/ui/intent"
)

// motion moves the cursor n times by an action, and reports whether it is one that moves. n is 0 if no number was typed.
func (r *Text) motion(a intent.Action, n int) bool {
	times := max(n, 1)
	switch a {
	case intent.Up, intent.Down:
		r.vertically(a == intent.Down, times)
	case intent.Left:
		r.move(vterm.Point{Line: r.at.Line, X: r.left(times)})
	case intent.Right:
		r.move(vterm.Point{Line: r.at.Line, X: r.right(times)})
	case intent.PageUp:
		r.page(-times * max(r.rows-1, 1))
	case intent.PageDown:
		r.page(times * max(r.rows-1, 1))
	case intent.HalfUp:
		r.page(-times * max(r.rows/2, 1))
	case intent.HalfDown:
		r.page(times * max(r.rows/2, 1))
	case intent.First, intent.Last:
		r.toLine(a == intent.Last, n)
	case intent.LineStart:
		r.move(vterm.Point{Line: r.at.Line})
	case intent.LineText:
		r.move(vterm.Point{Line: r.at.Line, X: r.text(r.at.Line)})
	case intent.LineEnd:
		r.move(vterm.Point{Line: r.at.Line, X: r.end(r.at.Line)})
		r.want = endOfLine
	case intent.ScreenTop:
		r.inWindow(times - 1)
	case intent.ScreenMiddle:
		r.inWindow((r.shown() - 1) / 2)
	case intent.ScreenBottom:
		r.inWindow(r.shown() - times)
	default:
		return r.jump(a, times)
	}
	return true
}

// jump moves the cursor over words and blocks.
func (r *Text) jump(a intent.Action, times int) bool {
	var step func()
	switch a {
	case intent.NextWord:
		step = r.nextWord
	case intent.PrevWord:
		step = r.prevWord
	case intent.WordEnd:
		step = r.wordEnd
	case intent.NextBlock:
		step = r.nextBlock
	case intent.PrevBlock:
		step = r.prevBlock
	default:
		return false
	}
	for range times {
		was := r.at
		if step(); r.at == was {
			break
		}
	}
	return true
}

func (r *Text) vertically(down bool, times int) {
	to := vterm.Point{Line: r.at.Line, X: r.want}
	if down {
		to.Line = min(to.Line+uint64(times), max(r.last(), r.at.Line))
	} else {
		to.Line -= min(uint64(times), to.Line-r.first())
	}
	r.goTo(to)
}

// left and right return the column that is n characters away.
func (r *Text) left(n int) int {
	cells, x := r.read(r.at.Line).cells, r.at.X
	for ; n > 0 && x > 0; n-- {
		x--
		for x > 0 && x < len(cells) && cells[x].Width == 0 {
			x--
		}
	}
	return x
}

func (r *Text) right(n int) int {
	cells, x := r.read(r.at.Line).cells, r.at.X
	for ; n > 0 && x < vterm.MaxCols; n-- {
		x++
		for x < len(cells) && cells[x].Width == 0 {
			x++
		}
	}
	return x
}

// page moves window and cursor by lines.
func (r *Text) page(lines int) {
	in := r.at.Line - r.top
	want := r.want
	top := int64(r.top) + int64(lines)
	switch end := int64(r.screen()); {
	case top > end: // the window is at the end: the cursor goes to the last line
		r.top = uint64(end)
		r.goTo(vterm.Point{Line: r.last(), X: want})
	case top < int64(r.first()):
		r.top = r.first()
		r.goTo(vterm.Point{Line: r.first(), X: want})
	default:
		r.top = uint64(top)
		r.goTo(vterm.Point{Line: min(r.top+in, max(r.last(), r.top)), X: want})
	}
}

// toLine moves to the first or the last line, or to the n-th one.
func (r *Text) toLine(last bool, n int) {
	line := r.first()
	switch {
	case n > 0:
		line = min(r.first()+uint64(n)-1, r.last())
	case last:
		line = r.last()
	}
	r.move(vterm.Point{Line: line, X: r.text(line)})
}

// shown returns how many lines of the window are not past the end.
func (r *Text) shown() int { return max(min(r.rows, int(r.last())-int(r.top)+1), 1) }

func (r *Text) inWindow(row int) {
	line := r.top + uint64(min(max(row, 0), r.shown()-1))
	r.move(vterm.Point{Line: line, X: r.text(line)})
}

// text returns the column of the first character of a line that is not blank.
func (r *Text) text(n uint64) int {
	for x, c := range r.read(n).cells {
		if c.Width > 0 && !unicode.IsSpace(c.Rune) {
			return x
		}
	}
	return 0
}

// Kinds of characters for words.
const (
	isBlank = iota
	isWord
	isOther
)

// class returns the kind of character at a point.
func (r *Text) class(p vterm.Point) int {
	cells := r.read(p.Line).cells
	if p.X >= len(cells) {
		return isBlank
	}
	switch c := cells[p.X].Rune; {
	case unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || c == '_':
		return isWord
	case unicode.IsSpace(c):
		return isBlank
	default:
		return isOther
	}
}

// forward returns the next character, and whether it begins a line of text. At the end it returns false.
func (r *Text) forward(p vterm.Point) (next vterm.Point, begins, ok bool) {
	l := r.read(p.Line)
	for p.X++; p.X < len(l.cells); p.X++ {
		if l.cells[p.X].Width > 0 {
			return p, false, true
		}
	}
	if wrapped := l.wrapped; p.Line < r.last() {
		return vterm.Point{Line: p.Line + 1}, !wrapped, true
	}
	return p, false, false
}

// backward returns the previous character, and whether it ends a line of text. At the start it returns false.
func (r *Text) backward(p vterm.Point) (prev vterm.Point, ends, ok bool) {
	l := r.read(p.Line)
	for p.X--; p.X >= 0; p.X-- {
		if p.X < len(l.cells) && l.cells[p.X].Width > 0 {
			return p, false, true
		}
	}
	if p.Line == r.first() {
		return p, false, false
	}
	p.Line--
	return vterm.Point{Line: p.Line, X: r.end(p.Line)}, !r.read(p.Line).wrapped, true
}

// empty reports whether a line has no text.
func (r *Text) empty(n uint64) bool {
	for _, c := range r.read(n).cells {
		if c.Width > 0 && !unicode.IsSpace(c.Rune) {
			return false
		}
	}
	return true
}

// nextWord moves to the start of the next word; an empty line is one.
func (r *Text) nextWord() {
	kind := r.class(r.at)
	for p := r.at; ; {
		next, begins, ok := r.forward(p)
		if !ok {
			r.move(vterm.Point{Line: r.at.Line, X: r.end(r.at.Line)})
			return
		}
		k := r.class(next)
		if k != isBlank && (k != kind || begins) || begins && len(r.read(next.Line).cells) == 0 {
			r.move(next)
			return
		}
		p, kind = next, k
	}
}

// wordEnd moves to the end of this word, or of the next one if it is there.
func (r *Text) wordEnd() {
	for p := r.at; ; {
		next, _, ok := r.forward(p)
		if !ok {
			return
		}
		after, begins, more := r.forward(next)
		if k := r.class(next); k != isBlank && (!more || begins || r.class(after) != k) {
			r.move(next)
			return
		}
		p = next
	}
}

// prevWord moves to the start of this word, or of the previous one if it is there.
func (r *Text) prevWord() {
	for p := r.at; ; {
		prev, _, ok := r.backward(p)
		if !ok {
			r.move(vterm.Point{Line: r.first()})
			return
		}
		before, ends, more := r.backward(prev)
		if k := r.class(prev); k != isBlank && (!more || ends || r.class(before) != k) {
			r.move(prev)
			return
		}
		p = prev
	}
}

// nextBlock moves to the start of the next block of lines, prevBlock to that of this one, or of the previous one if it
// is there.
func (r *Text) nextBlock() {
	n, last := r.at.Line, r.last()
	for n < last && !r.begins(n+1) {
		n++
	}
	n = min(n+1, last)
	r.move(vterm.Point{Line: n, X: r.text(n)})
}

func (r *Text) prevBlock() {
	n := r.at.Line
	for n > r.first() {
		if n--; r.begins(n) {
			break
		}
	}
	r.move(vterm.Point{Line: n, X: r.text(n)})
}

// begins reports whether a line is the first one of a block: blocks are separated by lines without text.
func (r *Text) begins(n uint64) bool {
	return !r.empty(n) && (n == r.first() || r.empty(n-1))
}
