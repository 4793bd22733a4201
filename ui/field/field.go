// Package field is an editable text: one line, or several where newlines are allowed.
//
// It keeps what was typed as it was typed, less control bytes, and draws itself safely with the
// cursor shown. It knows no keys: it takes intents.
package field

import (
	"strings"
	"unicode"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"charm.land/lipgloss/v2"
)

// maxRunes bounds a field; a paste beyond it is cut.
const maxRunes = 64 << 10

// Field is a text being edited.
type Field struct {
	// Multi allows newlines.
	Multi bool
	text  []rune
	at    int // cursor, in runes
}

// New makes a field that holds a text, the cursor behind it.
func New(text string) Field {
	var f Field
	f.Set(text)
	return f
}

// Value returns the text.
func (f *Field) Value() string { return string(f.text) }

// Set replaces the text and puts the cursor behind it.
func (f *Field) Set(text string) {
	f.text, f.at = nil, 0
	f.insert(text)
}

// Handle edits by an intent and reports whether it was one for a field.
func (f *Field) Handle(in intent.Intent) bool {
	switch in := in.(type) {
	case intent.Type:
		f.insert(in.Text)
		return true
	case intent.Action:
		return f.act(in)
	default:
		return false
	}
}

func (f *Field) act(a intent.Action) bool {
	switch a {
	case intent.Left:
		f.at = max(f.at-1, 0)
	case intent.Right:
		f.at = min(f.at+1, len(f.text))
	case intent.CursorHome:
		f.at = f.lineStart()
	case intent.CursorEnd:
		for f.at < len(f.text) && f.text[f.at] != '\n' {
			f.at++
		}
	case intent.EraseBack:
		f.cut(max(f.at-1, 0))
	case intent.EraseNext:
		if f.at < len(f.text) {
			f.at++
			f.cut(f.at - 1)
		}
	case intent.EraseWord:
		f.cut(f.wordStart())
	case intent.EraseLine:
		f.cut(f.lineStart())
	case intent.NewLine:
		if f.Multi {
			f.insert("\n")
		}
	default:
		return false
	}
	return true
}

// cut removes what stands between from and the cursor.
func (f *Field) cut(from int) {
	f.text = append(f.text[:from], f.text[f.at:]...)
	f.at = from
}

func (f *Field) lineStart() int {
	i := f.at
	for i > 0 && f.text[i-1] != '\n' {
		i--
	}
	return i
}

func (f *Field) wordStart() int {
	i := f.at
	for i > 0 && unicode.IsSpace(f.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(f.text[i-1]) {
		i--
	}
	return i
}

func (f *Field) insert(s string) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	var add []rune
	for _, r := range s {
		switch {
		case r == '\n' && f.Multi, r >= 0x20 && !unicode.IsControl(r):
			add = append(add, r)
		case r == '\n' || r == '\t':
			add = append(add, ' ')
		}
	}
	if room := maxRunes - len(f.text); len(add) > room {
		add = add[:max(room, 0)]
	}
	f.text = append(f.text[:f.at], append(add, f.text[f.at:]...)...)
	f.at += len(add)
}

// Draw draws the field into the box, scrolled so that the cursor shows; hint stands in an empty
// one. The cursor is a reversed cell where focus is set.
func (f *Field) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, st lipgloss.Style, hint string, focus bool) {
	if b.Empty() {
		return
	}
	c.Fill(b, st)
	if len(f.text) == 0 {
		muted := th.Style(theme.Muted).Background(st.GetBackground()).Reverse(st.GetReverse())
		c.Print(b, 0, 0, muted, plain.Cut(plain.Line(hint), b.W))
		if focus {
			c.Tint(layout.Box{X: b.X, Y: b.Y, W: 1, H: 1}, st.Reverse(true))
		}
		return
	}
	lines, row, col := f.rows(b.W)
	top := max(row-b.H+1, 0)
	for y := 0; y < b.H && top+y < len(lines); y++ {
		c.Print(b, 0, y, st, lines[top+y])
	}
	if focus {
		c.Tint(layout.Box{X: b.X + min(col, b.W-1), Y: b.Y + row - top, W: 1, H: 1}, st.Reverse(true))
	}
}

// rows breaks the text into rows of at most w cells and finds the cursor among them. A single
// line is one row, scrolled sideways.
func (f *Field) rows(w int) (lines []string, row, col int) {
	if !f.Multi {
		before, after := plain.Line(string(f.text[:f.at])), plain.Line(string(f.text[f.at:]))
		for plain.Width(before) > w-1 && before != "" {
			r := []rune(before)
			before = string(r[1:])
		}
		return []string{before + after}, 0, plain.Width(before)
	}
	line, width, i := []rune{}, 0, 0
	flush := func() { lines = append(lines, plain.Line(string(line))); line, width = line[:0], 0 }
	for ; i <= len(f.text); i++ {
		if i == f.at {
			row, col = len(lines), width
		}
		if i == len(f.text) {
			break
		}
		r := f.text[i]
		if r == '\n' {
			flush()
			continue
		}
		n := plain.Width(plain.Line(string(r)))
		if width+n > w-1 && len(line) > 0 {
			flush()
			if i == f.at {
				row, col = len(lines), 0
			}
		}
		line, width = append(line, r), width+n
	}
	flush()
	return lines, row, col
}
