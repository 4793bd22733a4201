package agent

import (
	"strings"
	"time"

	"orchestrator/agent/vterm"
)

// Input is what an agent's input holds.
type Input struct {
	// Text is what the input holds, without the agent's own words: its placeholder, a suggestion.
	Text string
	// Pasted is set where it shows something short in place of a long paste, and nothing else.
	Pasted bool
	// Settles is how long a paste must have stood there before the agent takes a return as one.
	Settles time.Duration
}

// Empty reports whether nothing stands in it.
func (i Input) Empty() bool { return i.Text == "" }

// Inputter is an agent whose input can be read off its screen. Optional for a thread.Agent.
type Inputter interface {
	// Input finds the input; false where the screen shows none, as when a menu is open. It is called with the
	// terminal locked, and must not write to it.
	Input(*vterm.Terminal) (Input, bool)
}

// Faint is the style of words that are an agent's own in its input.
func Faint(s vterm.Style) bool { return s.Attr&vterm.Dim != 0 }

// Written returns the text of some rows of a screen, from a column on and up to another, both ends' blanks taken off.
// Cells in a ghostly style are blank.
func Written(t *vterm.Terminal, first, last, from, to int, ghostly func(vterm.Style) bool) string {
	var b strings.Builder
	var cells []vterm.Cell
	var line []byte
	for y := first; y <= last; y++ {
		cells, line = t.Row(cells[:0], y), line[:0]
		for x := from; x < min(to, len(cells)); x++ {
			switch c := cells[x]; {
			case c.Width == 0:
			case ghostly(c.Style):
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
