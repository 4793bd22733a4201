package field

import (
	"strings"
	"testing"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// model is a field as simple as it can be said: characters as they are drawn before and behind the cursor.
type model struct {
	multi         bool
	before, after string
	yank          string
}

func characters(s string) (out []string) {
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		out = append(out, g.Value())
	}
	return out
}

// lineStart and lineEnd are where the cursor's line begins in before and ends in after.
func (m *model) lineStart() int { return strings.LastIndexByte(m.before, '\n') + 1 }

func (m *model) lineEnd() int {
	if i := strings.IndexByte(m.after, '\n'); i >= 0 {
		return i
	}
	return len(m.after)
}

// wordEnd is where the cursor goes by a word.
func wordEnd(s string) int {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		rest = rest[i:]
	} else {
		rest = ""
	}
	return len(s) - len(rest)
}

// to puts the cursor n bytes into the text.
func (m *model) to(n int) {
	text := m.before + m.after
	m.before, m.after = text[:n], text[n:]
}

// cut removes what is from byte i of before to byte j of after.
func (m *model) cut(i, j int, keep bool) {
	if gone := m.before[i:] + m.after[:j]; keep && gone != "" {
		m.yank = gone
	}
	m.before, m.after = m.before[:i], m.after[j:]
}

func (m *model) move(a intent.Action) {
	switch a {
	case intent.Left:
		if c := characters(m.before); len(c) > 0 {
			m.to(len(m.before) - len(c[len(c)-1]))
		}
	case intent.Right:
		if c := characters(m.after); len(c) > 0 {
			m.to(len(m.before) + len(c[0]))
		}
	case intent.CursorHome:
		m.to(m.lineStart())
	case intent.CursorEnd:
		m.to(len(m.before) + m.lineEnd())
	case intent.TextStart:
		m.to(0)
	case intent.TextEnd:
		m.to(len(m.before + m.after))
	case intent.WordLeft:
		m.to(wordStart(m.before))
	case intent.WordRight:
		m.to(len(m.before) + wordEnd(m.after))
	default:
	}
}

func (m *model) erase(a intent.Action) {
	start, end := m.lineStart(), m.lineEnd()
	switch a {
	case intent.EraseBack:
		if c := characters(m.before); len(c) > 0 {
			m.cut(len(m.before)-len(c[len(c)-1]), 0, false)
		}
	case intent.EraseNext:
		if c := characters(m.after); len(c) > 0 {
			m.cut(len(m.before), len(c[0]), false)
		}
	case intent.EraseLine: // at the start of a line, the newline before it
		m.cut(max(min(start, len(m.before)-1), 0), 0, true)
	case intent.EraseEnd:
		m.cut(len(m.before), min(max(end, 1), len(m.after)), true)
	case intent.EraseWord:
		m.cut(max(min(start+wordStart(m.before[start:]), len(m.before)-1), 0), 0, true)
	case intent.EraseNextWord:
		m.cut(len(m.before), min(max(wordEnd(m.after[:end]), 1), len(m.after)), true)
	default:
	}
}

var (
	moving  = []intent.Action{intent.Left, intent.Right, intent.CursorHome, intent.CursorEnd, intent.TextStart, intent.TextEnd, intent.WordLeft, intent.WordRight}
	erasing = []intent.Action{intent.EraseBack, intent.EraseNext, intent.EraseLine, intent.EraseEnd, intent.EraseWord, intent.EraseNextWord}
)

// TestEveryKeyAsTheModel: whatever is pressed in whatever order, the field holds what the model does, its cursor is
// where the model's is and shows in boxes of every width.
func TestEveryKeyAsTheModel(t *testing.T) {
	th := theme.New(colorprofile.NoTTY, true)
	rapid.Check(t, func(t *rapid.T) {
		m := model{multi: rapid.Bool().Draw(t, "multi")}
		f := Field{Multi: m.multi}
		var c layout.Canvas
		c.Reset(rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 4).Draw(t, "h"))
		t.Repeat(map[string]func(*rapid.T){
			"type": func(t *rapid.T) {
				s := rapid.SampledFrom([]string{"a", " ", "one two", "修", "é", "👨‍👩‍👧", "\u202e", "  ", "a\nb", "\n"}).Draw(t, "text")
				f.Handle(intent.Type{Text: s})
				if !m.multi {
					s = strings.ReplaceAll(s, "\n", " ")
				}
				m.before += s
			},
			"move": func(t *rapid.T) {
				a := rapid.SampledFrom(moving).Draw(t, "action")
				f.Handle(a)
				m.move(a)
			},
			"erase": func(t *rapid.T) {
				a := rapid.SampledFrom(erasing).Draw(t, "action")
				f.Handle(a)
				m.erase(a)
			},
			"yank": func(*rapid.T) {
				f.Handle(intent.Yank)
				m.before += m.yank
			},
			"row": func(t *rapid.T) { // the rows are the library's
				f.Handle(rapid.SampledFrom([]intent.Action{intent.Up, intent.Down}).Draw(t, "action"))
				before, _ := f.editor().parts()
				m.to(len(before))
			},
			"": func(t *rapid.T) {
				if before, after := f.editor().parts(); before != m.before || after != m.after {
					t.Fatalf("%q | %q, want %q | %q", before, after, m.before, m.after)
				}
				whole := 0
				for _, ch := range characters(m.before + m.after) {
					if whole += len(ch); whole > len(m.before) && whole-len(ch) < len(m.before) {
						t.Fatalf("the cursor is inside of %q", ch)
					}
				}
				f.Draw(&c, c.Bounds(), th, lipgloss.NewStyle(), "hint", true)
				if _, _, ok := c.Cursor(); !ok {
					t.Fatal("no cursor")
				}
			},
		})
	})
}
