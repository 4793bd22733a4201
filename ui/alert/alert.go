// Package alert calls the person outside of the screen when something happens: by the terminal's bell or a notification
// of the desktop. It guarantees that no text of an agent ends an escape sequence or begins one.
package alert

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/glyph"
	"orchestrator/ui/plain"

	tea "charm.land/bubbletea/v2"
)

// Config describes how to call, and on what.
type Config struct {
	Ways  []string // "bell", "osc9", "osc777", "osc99"
	Kinds []thread.HappeningKind
	// Focused also calls while the window has the focus, for other threads than the one that is looked at.
	Focused bool
	// Glyphs is what the terminal can show: one that takes no UTF-8 gets no byte beyond ASCII.
	Glyphs glyph.Set
}

// Window is the window that the screen is in.
type Window struct {
	Focused bool
	// Known is set once the terminal has told whether the window has the focus. Many never do.
	Known bool
	// Shown is the thread whose terminal is on the screen, or "".
	Shown thread.ID
}

// looks reports whether the person is likely to be looking at a thread.
func (w Window) looks(id thread.ID) bool { return id != "" && w.Shown == id && (w.Focused || !w.Known) }

// Of returns what calls the person for a happening, nil for nothing, and whether a line of the screen is to say it. A
// thread that is looked at calls nobody. A window that may be looked at, because its terminal does not tell, is called
// only by who cannot go on without the person.
func (c Config) Of(h thread.Happening, w Window) (call tea.Cmd, line bool) {
	if h.Thread == "" && h.Name == "" || !slices.Contains(c.Kinds, h.Kind) || w.looks(h.Thread) {
		return nil, false
	}
	if !w.Known && !h.Kind.NeedsPerson() || w.Known && w.Focused && !c.Focused {
		return nil, true
	}
	if seq := sequence(c.Glyphs, c.Ways, cmp.Or(h.Label, h.Name), h.Words()); seq != "" {
		call = tea.Raw(seq)
	}
	return call, true
}

// sequence returns the escape sequences that show a text in the given ways.
func sequence(glyphs glyph.Set, ways []string, title, text string) string {
	title, text = harmless(title, 80), harmless(text, 160)
	raw := glyphs.Text // what is not encoded
	var b strings.Builder
	for _, w := range ways {
		switch w {
		case "bell":
			b.WriteByte('\a')
		case "osc9":
			fmt.Fprintf(&b, "\x1b]9;%s: %s\x1b\\", raw(title), raw(text))
		case "osc777":
			fmt.Fprintf(&b, "\x1b]777;notify;%s;%s\x1b\\", raw(title), raw(text))
		case "osc99": // in two parts with one name; base64, so that it may have any characters
			encode := base64.StdEncoding.EncodeToString
			fmt.Fprintf(&b, "\x1b]99;i=orchestrator:d=0:e=1;%s\x1b\\", encode([]byte(title)))
			fmt.Fprintf(&b, "\x1b]99;i=orchestrator:d=1:e=1:p=body;%s\x1b\\", encode([]byte(text)))
		}
	}
	return b.String()
}

// harmless returns a text on one line without what ends a part of a sequence.
func harmless(s string, w int) string {
	return plain.Cut(strings.ReplaceAll(plain.Line(s), ";", ","), w)
}
