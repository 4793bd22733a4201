package field

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
)

// line is a single-line text.
type line struct{ in textinput.Model }

// newLine returns an empty line.
func newLine() *line {
	in := textinput.New()
	in.SetVirtualCursor(false)
	in.Focus()
	in.KeyMap = textinput.KeyMap{
		WordBackward:       on(intent.WordLeft),
		WordForward:        on(intent.WordRight),
		DeleteBeforeCursor: on(intent.EraseLine),
		DeleteAfterCursor:  on(intent.EraseEnd),
	}
	return &line{in: in}
}

// on binds an editor command to an action: its key is the action's name.
func on(a intent.Action) key.Binding { return key.NewBinding(key.WithKeys(string(a))) }

// press returns the key that an action is bound to.
func press(a intent.Action) tea.KeyPressMsg { return tea.KeyPressMsg{Text: string(a)} }

func (l *line) do(msg tea.Msg) { l.in, _ = l.in.Update(msg) }

func (l *line) parts() (before, after string) {
	text := []rune(l.in.Value())
	return string(text[:l.in.Position()]), string(text[l.in.Position():])
}

func (l *line) insert(text string) { l.do(tea.PasteMsg{Content: text}) }

func (l *line) move(a intent.Action) bool {
	before, after := l.parts()
	at := l.in.Position()
	switch a {
	case intent.Left:
		l.in.SetCursor(at - last(before))
	case intent.Right:
		l.in.SetCursor(at + first(after))
	case intent.CursorHome, intent.TextStart:
		l.in.CursorStart()
	case intent.CursorEnd, intent.TextEnd:
		l.in.CursorEnd()
	case intent.WordLeft, intent.WordRight:
		l.do(press(a))
		l.settle()
	case intent.Up, intent.Down:
	default:
		return false
	}
	return true
}

// settle moves the cursor out of the middle of a character.
func (l *line) settle() { l.in.SetCursor(whole(l.in.Value(), l.in.Position())) }

func (l *line) erase(a intent.Action) bool {
	before, after := l.parts()
	switch a {
	case intent.EraseBack:
		l.cut(last(before), 0)
	case intent.EraseNext:
		l.cut(0, first(after))
	case intent.EraseNextWord: // the library fails on the last character
		at := l.in.Position()
		l.move(intent.WordRight)
		l.cut(l.in.Position()-at, 0)
	case intent.EraseWord: // the library also removes a single space before the first word
		at := l.in.Position()
		l.move(intent.WordLeft)
		l.cut(0, at-l.in.Position())
	case intent.EraseLine, intent.EraseEnd:
		l.do(press(a))
		l.settle()
	default:
		return false
	}
	return true
}

// cut removes a number of runes before and after the cursor.
func (l *line) cut(back, next int) {
	text, at := []rune(l.in.Value()), l.in.Position()
	l.in.SetValue(string(text[:at-back]) + string(text[at+next:]))
	l.in.SetCursor(at - back)
}

// rows returns the single row, scrolled sideways to the cursor, with a cell left for it.
func (l *line) rows(w, _ int) (rows []string, y int, before string) {
	before, after := l.parts()
	before = tail(before, w-1)
	return []string{before + after}, 0, before
}

// tail returns the end of a text, at most w cells wide.
func tail(s string, w int) string {
	skip := max(plain.Width(plain.Line(s))-w, 0)
	for g := displaywidth.StringGraphemes(s); skip > 0 && g.Next(); {
		skip -= plain.Width(plain.Line(g.Value()))
		s = strings.TrimPrefix(s, g.Value())
	}
	return s
}
