package field

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"orchestrator/ui/intent"
)

// area is a multi-line text.
type area struct{ in textarea.Model }

// newArea returns an empty area.
func newArea() *area {
	in := textarea.New()
	in.SetVirtualCursor(false)
	in.Prompt, in.ShowLineNumbers = "", false
	in.MaxHeight, in.MaxWidth = 0, 0
	none := textarea.StyleState{
		Base: lipgloss.NewStyle(), Text: lipgloss.NewStyle(), CursorLine: lipgloss.NewStyle(),
		EndOfBuffer: lipgloss.NewStyle(), Prompt: lipgloss.NewStyle(),
	}
	in.SetStyles(textarea.Styles{Focused: none, Blurred: none})
	in.KeyMap = textarea.KeyMap{
		WordBackward:            on(intent.WordLeft),
		WordForward:             on(intent.WordRight),
		CharacterBackward:       on(intent.Left),
		CharacterForward:        on(intent.Right),
		LinePrevious:            on(intent.Up),
		LineNext:                on(intent.Down),
		InputBegin:              on(intent.TextStart),
		InputEnd:                on(intent.TextEnd),
		LineStart:               on(intent.CursorHome),
		LineEnd:                 on(intent.CursorEnd),
		DeleteCharacterBackward: on(intent.EraseBack),
		DeleteWordBackward:      on(intent.EraseWord),
		DeleteWordForward:       on(intent.EraseNextWord),
		DeleteBeforeCursor:      on(intent.EraseLine),
		DeleteAfterCursor:       on(intent.EraseEnd),
	}
	in.Focus()
	return &area{in: in}
}

func (t *area) do(msg tea.Msg) { t.in, _ = t.in.Update(msg) }

func (t *area) insert(text string) { t.do(tea.PasteMsg{Content: text}) }

func (t *area) parts() (before, after string) {
	text := t.in.Value()
	n := 0
	for range t.in.Line() {
		n += strings.IndexByte(text[n:], '\n') + 1
	}
	for range t.in.Column() {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
	}
	return text[:n], text[n:]
}

// line returns the parts of the cursor's line.
func (t *area) line() (before, after string) {
	before, after = t.parts()
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	return before, after
}

func (t *area) move(a intent.Action) bool {
	switch a {
	case intent.Left, intent.Right:
		t.step(a)
	case intent.WordLeft:
		if before, _ := t.parts(); strings.TrimSpace(before) == "" {
			a = intent.TextStart // the library would search for a word forever
		}
		t.do(press(a))
	case intent.Up, intent.Down:
		t.climb(a)
	case intent.WordRight, intent.CursorHome, intent.CursorEnd, intent.TextStart, intent.TextEnd:
		t.do(press(a))
	default:
		return false
	}
	t.settle()
	return true
}

// step moves the cursor by a character to the left or right, also across lines.
func (t *area) step(a intent.Action) {
	before, after := t.line()
	n := first(after)
	if a == intent.Left {
		n = last(before)
	}
	for range max(n, 1) {
		t.do(press(a))
	}
}

// climb moves the cursor a row up or down, if there is one.
func (t *area) climb(a intent.Action) {
	at := t.in.LineInfo()
	switch {
	case a == intent.Up && t.in.Line() == 0 && at.RowOffset == 0:
	case a == intent.Down && t.in.Line() == t.in.LineCount()-1 && at.RowOffset == at.Height-1:
	default:
		t.do(press(a))
	}
}

// settle moves the cursor out of the middle of a character.
func (t *area) settle() {
	before, after := t.line()
	if at := whole(before+after, t.in.Column()); at != t.in.Column() {
		t.in.SetCursorColumn(at)
	}
}

func (t *area) erase(a intent.Action) bool {
	before, after := t.line()
	switch a {
	case intent.EraseBack:
		t.back(last(before))
	case intent.EraseNext: // the library also removes the newline after the last character
		if _, rest := t.parts(); rest == "" {
			return true
		}
		n := first(after)
		t.step(intent.Right)
		t.back(n)
	case intent.EraseWord:
		t.do(press(a))
		if r, size := utf8.DecodeRuneInString(before); unicode.IsSpace(r) && wordStart(before) == size {
			t.insert(before[:size]) // the library also removes a single space before the first word
		}
	case intent.EraseNextWord, intent.EraseLine, intent.EraseEnd:
		t.do(press(a))
	default:
		return false
	}
	t.settle()
	return true
}

// back removes n runes before the cursor, or the newline if there are none.
func (t *area) back(n int) {
	for range max(n, 1) {
		t.do(press(intent.EraseBack))
	}
}

// rows returns the text wrapped by the library at words.
func (t *area) rows(w, h int) (rows []string, y int, before string) {
	if t.in.Width() != w {
		t.in.SetWidth(w)
	}
	t.in.SetHeight(h) // scrolls to the cursor
	rows = strings.Split(t.in.View(), "\n")
	y = max(min(t.in.Cursor().Y, len(rows)-1), 0)
	row := []rune(rows[y])
	return rows, y, string(row[:min(t.in.LineInfo().ColumnOffset, len(row))])
}
