package field

import (
	"strings"
	"testing"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
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

func TestDrawKeepsTheCursorInSight(t *testing.T) {
	th := theme.New(colorprofile.ASCII, true)
	var c layout.Canvas
	for _, multi := range []bool{false, true} {
		f := Field{Multi: multi}
		f.Handle(intent.Type{Text: strings.Repeat("0123456789", 4)})
		c.Reset(12, 2)
		f.Draw(&c, c.Bounds(), th, lipgloss.NewStyle(), "", true)
		if !strings.Contains(c.String(), "\x1b[7m") {
			t.Errorf("multi=%v: no cursor in %q", multi, c.String())
		}
	}
}
