// Package field is an editable text: a single line, or several if newlines are allowed.
//
// It keeps typed text unchanged, except for control bytes. The cursor is never in the middle of a character, and always
// inside the field's box, where the field puts the terminal's own cursor. It handles intents, not keys.
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

// maxRunes and maxLines limit a field; a longer paste is truncated.
const (
	maxRunes = 64 << 10
	maxLines = 10_000 // the limit of the library's text area
)

// editor is a text with a cursor, which is always between whole characters.
type editor interface {
	// parts returns the text before and after the cursor.
	parts() (before, after string)
	// insert inserts clean text at the cursor.
	insert(text string)
	// move moves the cursor and reports whether the action is a move. Up and Down do nothing if there is no row.
	move(a intent.Action) bool
	// erase removes text next to the cursor and reports whether the action does that.
	erase(a intent.Action) bool
	// rows returns the visible rows in a box of w by h cells, the cursor's row, and the text before the cursor in it.
	rows(w, h int) (rows []string, y int, before string)
}

// Field is an editable text. The zero value is an empty line. Do not copy a field once it is in use.
type Field struct {
	// Multi allows newlines. Set it before using the field.
	Multi bool
	text  editor // created when needed
	yank  string // the last deleted text, except for single characters
	// suggested is set while the text is a suggestion, which typed text replaces.
	suggested bool
}

// New returns a field with a text, and the cursor at its end.
func New(text string) Field {
	var f Field
	f.Set(text)
	return f
}

// Suggest returns a field with a text that is replaced by what is typed, unless it is edited before.
func Suggest(text string) Field {
	f := New(text)
	f.suggested = text != ""
	return f
}

// editor returns the editor, creating it if needed.
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

// Set replaces the text and puts the cursor at its end.
func (f *Field) Set(text string) {
	f.text, f.suggested = nil, false
	f.insert(text)
}

// Handle handles an intent and reports whether it was one for a field.
func (f *Field) Handle(in intent.Intent) bool {
	switch in := in.(type) {
	case intent.Type:
		if f.suggested && in.Text != "" {
			f.Set("")
		}
		f.insert(in.Text)
		return true
	case intent.Action:
		return f.act(in)
	default:
		return false
	}
}

func (f *Field) act(a intent.Action) bool {
	f.suggested = false
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

// Move moves the cursor up or down a row, and reports whether there is one.
func (f *Field) Move(a intent.Action) bool {
	text := f.editor()
	was, _ := text.parts()
	text.move(a)
	now, _ := text.parts()
	return was != now
}

// insert inserts text at the cursor, without what a field does not allow.
func (f *Field) insert(s string) {
	if s == "" {
		return
	}
	was := f.Value()
	if s = f.clean(s, maxRunes-utf8.RuneCountInString(was), maxLines-1-strings.Count(was, "\n")); s != "" {
		f.editor().insert(s)
	}
}

// clean returns the part of a text that a field allows, up to a number of characters and newlines.
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

// Draw draws the field into the box, scrolled to the cursor; hint is shown if it is empty. With focus, the terminal's
// cursor is put at the insertion point.
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
	if f.suggested && focus {
		st = th.Style(theme.SelectedFocus)
	}
	rows, y, before := f.editor().rows(b.W, b.H)
	for i, row := range rows {
		c.Print(b, 0, i, st, plain.Line(row))
	}
	if focus {
		c.PutCursor(b, min(plain.Width(plain.Line(before)), b.W-1), y)
	}
}
