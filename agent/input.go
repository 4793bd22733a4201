package agent

import (
	"strings"
	"time"

	"orchestrator/agent/vterm"
)

// Input is the content of an agent's input field.
type Input struct {
	// Text is the text in it, without the agent's own texts: its placeholder, a suggestion.
	Text string
	// Pasted is set if it shows only a placeholder for a long paste.
	Pasted bool
	// PasteDelay is how long after a paste the agent takes a return as a line break and does not submit the input.
	PasteDelay time.Duration
}

// Empty reports whether the input has no text.
func (i Input) Empty() bool { return i.Text == "" }

// InputReader is an agent whose input field can be read from its screen. Optional for a thread.Agent.
type InputReader interface {
	// Input finds the input field; false if the screen shows none, for example while a menu is open. It is called with the
	// terminal locked, and must not write to it.
	Input(*vterm.Terminal) (Input, bool)
}

// Faint reports whether a style is the one that agents use for their own texts in the input field.
func Faint(s vterm.Style) bool { return s.Attr&vterm.Dim != 0 }

// ScreenText returns the text in some rows of a screen, between two columns, without white space at either end. Cells
// whose style is ignored are blank.
func ScreenText(t *vterm.Terminal, first, last, from, to int, ignore func(vterm.Style) bool) string {
	var b strings.Builder
	var cells []vterm.Cell
	var line []byte
	for y := first; y <= last; y++ {
		cells, line = t.Row(cells[:0], y), line[:0]
		for x := from; x < min(to, len(cells)); x++ {
			switch c := cells[x]; {
			case c.Width == 0:
			case ignore(c.Style):
				line = append(line, ' ')
			default:
				line = c.AppendText(line)
			}
		}
		b.WriteString(strings.TrimRight(string(line), " "))
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}
