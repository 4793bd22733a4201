package field

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name string
		do   []intent.Intent
		want string
	}{
		{"type", []intent.Intent{intent.Type{Text: "abc"}}, "abc"},
		{"insert", []intent.Intent{intent.Type{Text: "ac"}, intent.Left, intent.Type{Text: "b"}}, "abc"},
		{"erase", []intent.Intent{intent.Type{Text: "abc"}, intent.EraseBack, intent.CursorHome, intent.EraseNext}, "b"},
		{"word", []intent.Intent{intent.Type{Text: "one two "}, intent.EraseWord}, "one "},
		{"line", []intent.Intent{intent.Type{Text: "one"}, intent.EraseLine, intent.EraseBack, intent.EraseNext}, ""},
		{"paste", []intent.Intent{intent.Type{Text: "a\nb\x1b[31m\x00"}}, "a b[31m"},
		{"next word", []intent.Intent{intent.Type{Text: "one two"}, intent.WordLeft, intent.EraseNextWord}, "one "},
		{"last character", []intent.Intent{intent.Type{Text: "ab"}, intent.Left, intent.EraseNextWord}, "a"},
		{"end", []intent.Intent{intent.Type{Text: "one two"}, intent.CursorHome, intent.WordRight, intent.EraseEnd}, "one"},
		{"yank", []intent.Intent{intent.Type{Text: "one two"}, intent.EraseWord, intent.CursorHome, intent.Yank}, "twoone "},
		{"yank what was before", []intent.Intent{intent.Type{Text: "one two"}, intent.Left, intent.EraseLine, intent.CursorEnd, intent.Yank}, "oone tw"},
		{"whole letter", []intent.Intent{intent.Type{Text: "cafe\u0301"}, intent.EraseBack}, "caf"},
		{"whole emoji", []intent.Intent{intent.Type{Text: "a👨‍👩‍👧b"}, intent.Left, intent.EraseBack}, "ab"},
		{"newline", []intent.Intent{intent.Type{Text: "a"}, intent.NewLine}, "a"},
	} {
		var f Field
		for _, in := range c.do {
			if !f.Handle(in) {
				t.Errorf("%s: %v is not taken", c.name, in)
			}
		}
		if f.Value() != c.want {
			t.Errorf("%s: %q, want %q", c.name, f.Value(), c.want)
		}
	}
	m := Field{Multi: true}
	m.Handle(intent.Type{Text: "a\r\nb"})
	m.Handle(intent.NewLine)
	m.Handle(intent.Type{Text: "c"})
	if m.Value() != "a\nb\nc" {
		t.Errorf("%q", m.Value())
	}
}

// TestCursorCell: the terminal's cursor is where the next character goes, in every width.
func TestCursorCell(t *testing.T) {
	th := theme.New(colorprofile.NoTTY, true)
	for _, c := range []struct {
		name, text string
		multi      bool
		do         []intent.Intent
		w, h, x, y int
	}{
		{name: "empty", w: 10, h: 1},
		{name: "behind", text: "abc", w: 10, h: 1, x: 3},
		{name: "wide", text: "修复", w: 10, h: 1, x: 4},
		{name: "left of a wide one", text: "修复", do: []intent.Intent{intent.Left}, w: 10, h: 1, x: 2},
		{name: "combining", text: "cafe\u0301", do: []intent.Intent{intent.Left}, w: 10, h: 1, x: 3},
		{name: "behind combining", text: "cafe\u0301", w: 10, h: 1, x: 4},
		{name: "emoji of several", text: "a👨‍👩‍👧", do: []intent.Intent{intent.Left}, w: 10, h: 1, x: 1},
		{name: "hidden sign", text: "a\u202eb", w: 20, h: 1, x: 2 + plain.Width(plain.Line("\u202e"))},
		{name: "scrolled", text: strings.Repeat("0123456789", 4), w: 12, h: 1, x: 11},
		{name: "scrolled wide", text: strings.Repeat("修", 20), w: 12, h: 1, x: 10},
		{name: "scrolled back", text: strings.Repeat("0123456789", 4), do: []intent.Intent{intent.CursorHome}, w: 12, h: 1},
		{name: "second line", text: "ab\ncde", multi: true, w: 12, h: 3, x: 3, y: 1},
		{name: "up", text: "ab\ncde", do: []intent.Intent{intent.Up}, multi: true, w: 12, h: 3, x: 2},
		{name: "wrapped", text: "one two three", multi: true, w: 8, h: 3, x: 5, y: 1},
		{name: "wrapped wide", text: "修复修复 修复", multi: true, w: 10, h: 3, x: 4, y: 1},
		{name: "below the box", text: "1\n2\n3\n4", multi: true, w: 8, h: 2, x: 1, y: 1},
		{name: "full row", text: "12345678", multi: true, w: 8, h: 2, y: 1},
	} {
		f := Field{Multi: c.multi}
		f.Set(c.text)
		var canvas layout.Canvas
		canvas.Reset(c.w+2, c.h+2)
		b := canvas.Bounds().Inset(1)
		f.Draw(&canvas, b, th, lipgloss.NewStyle(), "hint", true) // a field is drawn before one types into it
		for _, in := range c.do {
			f.Handle(in)
		}
		f.Draw(&canvas, b, th, lipgloss.NewStyle(), "hint", true)
		if x, y, ok := canvas.Cursor(); !ok || x-1 != c.x || y-1 != c.y {
			t.Errorf("%s: cursor at %d,%d (%v), want %d,%d", c.name, x-1, y-1, ok, c.x, c.y)
		}
		canvas.HideCursor()
		f.Draw(&canvas, b, th, lipgloss.NewStyle(), "hint", false)
		if _, _, ok := canvas.Cursor(); ok {
			t.Errorf("%s: a cursor without focus", c.name)
		}
	}
}

// TestLimits: a field holds no more than it can, whatever is pasted.
// TestControlBytes pastes what terminals obey: only the text is kept.
func TestControlBytes(t *testing.T) {
	for _, multi := range []bool{false, true} {
		f := Field{Multi: multi}
		f.Handle(intent.Type{Text: "a\x1b[31mb\x00c\x7fd\u009be\xfff"})
		if got := f.Value(); got != "a[31mbcdef" {
			t.Errorf("multi=%v: %q", multi, got)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, multi := range []bool{false, true} {
		f := Field{Multi: multi}
		f.Handle(intent.Type{Text: strings.Repeat("x", maxRunes-2)})
		f.Handle(intent.Type{Text: "修复修复"})
		if got := len([]rune(f.Value())); got != maxRunes {
			t.Errorf("multi=%v: %d runes", multi, got)
		}
	}
	f := Field{Multi: true}
	f.Handle(intent.Type{Text: strings.Repeat("a\n", maxLines-1) + "b\nc"})
	f.Handle(intent.NewLine)
	if got := strings.Count(f.Value(), "\n") + 1; got != maxLines || !strings.HasSuffix(f.Value(), "a\nb") {
		t.Errorf("%d lines", got)
	}
}
