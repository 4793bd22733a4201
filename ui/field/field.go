// Package field is an editable text: one line, or several where newlines are allowed.
//
// It keeps what was typed as it was typed, less control bytes. The cursor never rests inside a
// character that is drawn as one, and it is always inside the box that the field is drawn in: the
// field puts the terminal's own cursor there. It knows no keys: it takes intents.
package field

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// maxRunes and maxLines bound a field; a paste beyond them is cut.
const (
	maxRunes = 64 << 10
	maxLines = 10_000 // the most that the editor of several lines holds
)

// editor is the text with its cursor. Its positions are between whole characters.
type editor interface {
	// parts returns the text before the cursor and behind it.
	parts() (before, after string)
	// insert puts clean text at the cursor.
	insert(text string)
	// move moves the cursor and reports whether the action is a move. Up and Down stay where there is no row.
	move(a intent.Action) bool
	// erase removes text beside the cursor and reports whether the action does that.
	erase(a intent.Action) bool
	// rows returns the rows that show in a box of w by h cells, with the cursor's row and the text before it there.
	rows(w, h int) (rows []string, y int, before string)
}

// Field is a text being edited. The zero value is an empty line. A field is not copied once it is in use.
type Field struct {
	// Multi allows newlines. It is set before the field is used.
	Multi bool
	text  editor // nil until it is needed
	yank  string // what was erased last, other than by single characters
}

// New makes a field that holds a text, the cursor behind it.
func New(text string) Field {
	var f Field
	f.Set(text)
	return f
}

// editor returns the text, which begins empty.
func (f *Field) editor() editor {
	if f.text == nil && f.Multi {
		f.text = newArea()
	} else if f.text == nil {
		f.text = newLine()
	}
	return f.text
}

// Value returns the text.
func (f *Field) Value() string {
	if f.text == nil {
		return ""
	}
	before, after := f.text.parts()
	return before + after
}

// Set replaces the text and puts the cursor behind it.
func (f *Field) Set(text string) {
	f.text = nil
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
	case intent.NewLine:
		if f.Multi {
			f.insert("\n")
		}
		return true
	case intent.Yank:
		f.insert(f.yank)
		return true
	default:
	}
	text := f.editor()
	if text.move(a) {
		return true
	}
	was := f.Value()
	if !text.erase(a) {
		return false
	}
	if now := f.Value(); now != was && a != intent.EraseBack && a != intent.EraseNext {
		before, _ := text.parts()
		f.yank = was[len(before) : len(before)+len(was)-len(now)]
	}
	return true
}

// Move moves the cursor up or down a row and reports whether there is one.
func (f *Field) Move(a intent.Action) bool {
	text := f.editor()
	was, _ := text.parts()
	text.move(a)
	now, _ := text.parts()
	return was != now
}

// insert puts text at the cursor, less what a field does not hold.
func (f *Field) insert(s string) {
	if s == "" {
		return
	}
	was := f.Value()
	if s = f.clean(s, maxRunes-utf8.RuneCountInString(was), maxLines-1-strings.Count(was, "\n")); s != "" {
		f.editor().insert(s)
	}
}

// clean returns what a field holds of a text, at most so many characters and newlines.
func (f *Field) clean(s string, runes, newlines int) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' && f.Multi:
			if newlines--; newlines < 0 {
				return b.String()
			}
		case r == '\n' || r == '\t':
			r = ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			continue
		}
		if runes--; runes < 0 {
			return b.String()
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Draw draws the field into the box, scrolled so that the cursor shows; hint is shown in an empty
// one. Where focus is set, the terminal's cursor is put where the next character goes.
func (f *Field) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, st lipgloss.Style, hint string, focus bool) {
	if b.Empty() {
		return
	}
	c.Fill(b, st)
	if f.Value() == "" {
		muted := th.Style(theme.Muted).Background(st.GetBackground()).Reverse(st.GetReverse())
		c.Print(b, 0, 0, muted, plain.Cut(plain.Line(hint), b.W))
		if focus {
			c.PutCursor(b, 0, 0)
		}
		return
	}
	rows, y, before := f.editor().rows(b.W, b.H)
	for i, row := range rows {
		c.Print(b, 0, i, st, plain.Line(row))
	}
	if focus {
		c.PutCursor(b, min(plain.Width(plain.Line(before)), b.W-1), y)
	}
}
