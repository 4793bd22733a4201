package program

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

// promptTop is how many lines of the prompt are shown.
const promptTop = 6

// editor is the prompt being typed.
type editor struct {
	text    []rune
	at      int
	history []string
	back    int // how far back in history
}

func (e *editor) insert(s string) {
	r := []rune(plain(s))
	e.text = slices.Insert(e.text, e.at, r...)
	e.at += len(r)
}

func (e *editor) set(s string) {
	e.text = []rune(s)
	e.at = len(e.text)
}

// take empties the editor and returns its text.
func (e *editor) take() string {
	s := strings.TrimSpace(string(e.text))
	if s != "" {
		e.history = append(e.history, s)
	}
	e.back = 0
	e.set("")
	return s
}

// recall steps through the history.
func (e *editor) recall(step int) {
	n := e.back + step
	if n < 0 || n > len(e.history) {
		return
	}
	e.back = n
	if n == 0 {
		e.set("")
		return
	}
	e.set(e.history[len(e.history)-n])
}

// key handles an editing key.
func (e *editor) key(k key) {
	switch k.kind {
	case keyRune, keyPaste:
		e.insert(k.text)
	case keyNewline:
		e.insert("\n")
	case keyBackspace:
		if e.at > 0 {
			e.text = slices.Delete(e.text, e.at-1, e.at)
			e.at--
		}
	case keyClear:
		e.set("")
	case keyLeft:
		e.at = max(e.at-1, 0)
	case keyRight:
		e.at = min(e.at+1, len(e.text))
	case keyHome:
		e.at = 0
	case keyEnd:
		e.at = len(e.text)
	case keyUp:
		e.recall(1)
	case keyDown:
		e.recall(-1)
	default:
	}
}

// chop breaks a text at the last column and not at spaces: typed text must not jump.
func chop(text string, cols int) []string {
	return strings.Split(ansi.Hardwrap(text, cols, true), "\n")
}

// lines returns the prompt's lines around the cursor, and the position of the cursor.
func (e *editor) lines(cols int) (out []line, row, col int) {
	inner := max(cols-3, 4)
	before := chop(string(e.text[:e.at]), inner)
	all := chop(string(e.text), inner)
	row = min(len(before), len(all)) - 1
	col = min(displaywidth.String(before[len(before)-1]), inner) + 2
	first := max(0, min(row-promptTop/2, len(all)-promptTop))
	for i, t := range all[first:min(len(all), first+promptTop)] {
		lead := "  "
		switch {
		case i+first == 0:
			lead = "› "
		case i == 0:
			lead = "… " // there are more above
		}
		out = append(out, line{style: styleNone, text: lead + t})
	}
	return out, row - first, col
}
