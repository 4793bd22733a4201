package dialog

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

// picked is a result.
type picked struct{ what string }

func (picked) DialogResult() {}

func keys(t *testing.T) *intent.Table {
	t.Helper()
	tab, err := intent.NewTable(nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func draw(t *testing.T, s *Stack, w, h int) string {
	t.Helper()
	var c layout.Canvas
	c.Reset(w, h)
	s.Draw(&c, theme.New(colorprofile.ASCII, true), keys(t))
	return c.String()
}

// Only the top dialog hears anything, and one that ends leaves the one below open.
func TestStack(t *testing.T) {
	var s Stack
	below, above := NewText("below", Plain("x")), NewAsk("above", Plain("y"), Choice{Label: "go", Result: picked{"1"}})
	s.Push(below)
	s.Push(above)
	if got := s.Handle(intent.Up); got != nil {
		t.Errorf("up ends in %v", got)
	}
	if got := s.Handle(intent.Accept); got != (picked{"1"}) || s.Top() != Dialog(below) {
		t.Errorf("yes ends in %v, on top is %v", got, s.Top())
	}
	if got := s.Handle(intent.Cancel); got != (Cancelled{}) || s.Open() {
		t.Errorf("cancel ends in %v", got)
	}
	if got := s.Handle(intent.Accept); got != nil {
		t.Errorf("an empty stack answers %v", got)
	}
}

// A question whose answer is still looked up cannot be answered yes by a quick finger.
func TestAskWithoutChoices(t *testing.T) {
	a := NewAsk("merge", Plain("looking …"))
	if got := a.Handle(intent.Accept); got != nil {
		t.Errorf("enter ends in %v", got)
	}
	if got := a.Handle(intent.Cancel); got != (Cancelled{}) {
		t.Errorf("esc ends in %v", got)
	}
}

func TestLongTextScrolls(t *testing.T) {
	var s Stack
	s.Push(NewText("long", Plain(strings.Split(strings.Repeat("line|", 50)+"last", "|")...)))
	if got := draw(t, &s, 60, 12); strings.Contains(got, "last") || !strings.Contains(got, "↓") {
		t.Errorf("top:\n%s", got)
	}
	s.Handle(intent.Last)
	if got := draw(t, &s, 60, 12); !strings.Contains(got, "last") || !strings.Contains(got, "↑") {
		t.Errorf("end:\n%s", got)
	}
}

// TestHints: a frame names the keys that do something.
func TestHints(t *testing.T) {
	fine := Choice{Label: "fine", Result: Cancelled{}}
	for _, c := range []struct {
		dialog     Dialog
		want, none []string
	}{
		{NewAsk("q", nil), []string{" cancel "}, []string{" select ", " choice "}},
		{NewAsk("q", nil, fine), []string{" select "}, []string{" choice "}},
		{NewAsk("q", nil, fine, fine), []string{" next choice ", " select ", " cancel "}, nil},
		{NewText("t", Plain("short")), []string{" close "}, []string{" down "}},
		{NewText("t", Plain(strings.Split(strings.Repeat("line|", 50), "|")...)), []string{" down ", " close "}, nil},
	} {
		var s Stack
		s.Push(c.dialog)
		got := draw(t, &s, 80, 20)
		for _, hint := range c.want {
			if !strings.Contains(got, hint) {
				t.Errorf("no %q in\n%s", hint, got)
			}
		}
		for _, hint := range c.none {
			if strings.Contains(got, hint) {
				t.Errorf("%q in\n%s", hint, got)
			}
		}
	}
}

// TestLongLines: what wraps stands below its own beginning, clear of the mark before it.
func TestLongLines(t *testing.T) {
	for line, want := range map[string]string{
		"  × internal/with/a/long/name.go": "  × internal/with/|    a/long/name.go",
		"✓ one two three four":             "✓ one two three|  four",
		"  one two three four":             "  one two three|  four",
		"one two three four":               "one two three four",
		"×":                                "×",
		"+1 is no mark, it is a number":    "+1 is no mark, it|is a number",
	} {
		var got []string
		for _, l := range wrap(Plain(line), 18, 0) {
			got = append(got, l.Text)
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%q wraps to %q, want %q", line, g, want)
		}
	}
}

func TestFormKeepsTheFieldInSight(t *testing.T) {
	inputs := []*Input{{Label: "Agent", Options: []Option{{Value: "demo", Note: "ready"}}}, {Label: "Prompt", Rows: 3, Text: field.Field{Multi: true}}}
	for range 5 {
		inputs = append(inputs, &Input{Label: "More"})
	}
	last := inputs[len(inputs)-1]
	var s Stack
	s.Push(NewForm("new thread", func() (Result, string) { return picked{last.Text.Value()}, "" }, inputs...))
	for range inputs[1:] {
		s.Handle(intent.NextField)
	}
	s.Handle(intent.Type{Text: "mode-x"})
	if got := draw(t, &s, 60, 12); !strings.Contains(got, "mode-x") {
		t.Errorf("the field typed into is out of sight:\n%s", got)
	}
	if r := s.Handle(intent.Accept); r != (picked{"mode-x"}) {
		t.Errorf("result %+v", r)
	}
}

func TestPicker(t *testing.T) {
	p := NewPicker("commands", []Item{{Title: "fork here", Result: picked{"f"}}, {Title: "rename", Result: picked{"r"}}})
	for _, c := range "rnm" {
		p.Handle(intent.Type{Text: string(c)})
	}
	if got := p.Handle(intent.Accept); got != (picked{"r"}) {
		t.Errorf("picked %v", got)
	}
	p.Handle(intent.Type{Text: "zzz"})
	if got := p.Handle(intent.Accept); got != nil {
		t.Errorf("picked %v of nothing", got)
	}
}

// TestCodeKeepsEverySpace: what has to be judged wraps without losing anything, below its own beginning.
func TestCodeKeepsEverySpace(t *testing.T) {
	for _, tok := range []theme.Token{theme.Code, theme.DiffAdd, theme.DiffDel} {
		const text = "sh -c  'a   b'     rm -rf    /"
		var got strings.Builder
		for i, l := range wrap([]Line{{Text: "▸ " + text, Tok: tok}}, 12, 0) {
			if part, ok := strings.CutPrefix(l.Text, map[bool]string{true: "▸ ", false: "  "}[i == 0]); !ok || plain.Width(l.Text) > 12 || l.Tok != tok {
				t.Errorf("line %d is %q", i, l.Text)
			} else {
				got.WriteString(part)
			}
		}
		if got.String() != text {
			t.Errorf("wrapped to %q", got.String())
		}
	}
}

// TestReadBefore: a choice that needs the whole text is not taken before its end was drawn.
func TestReadBefore(t *testing.T) {
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = fmt.Sprint("line ", i)
	}
	var s Stack
	s.Push(NewAsk("accept?", Plain(lines...), Cancel("Cancel"), Choice{Label: "Accept", Result: picked{"yes"}, Read: true}))
	s.Handle(intent.Right)
	if r := s.Handle(intent.Accept); r != nil {
		t.Fatalf("taken before anything was drawn: %v", r)
	}
	for n := 0; ; n++ {
		got := draw(t, &s, 60, 20)
		r := s.Handle(intent.Accept)
		if r == nil && n < 9 {
			continue
		}
		if n < 1 || r != (picked{"yes"}) || !strings.Contains(got, "line 39") {
			t.Errorf("taken as %v after %d screens:\n%s", r, n, got)
		}
		break
	}
	ask := NewAsk("accept?", Plain("short"), Choice{Label: "Accept", Result: picked{"yes"}, Read: true})
	s.Push(ask)
	draw(t, &s, 60, 20)
	ask.Set(Plain(lines...), Choice{Label: "Accept", Result: picked{"yes"}, Read: true})
	if r := s.Handle(intent.Accept); r != nil {
		t.Errorf("the end of another text counts: %v", r)
	}
}

// stepper stays open with whatever it is asked, and ends with a cancel.
type stepper struct {
	Text
	clicks int
}

type stays struct{ picked }

func (stays) Stays() {}

func (s *stepper) Handle(in intent.Intent) Result {
	if in == intent.Cancel {
		return Cancelled{}
	}
	return stays{}
}

func (s *stepper) Click(x, y int) Result {
	s.clicks++
	if x == 9 {
		return picked{"click"}
	}
	return nil
}

// TestSteps: a step leaves its dialog open; clicks are for dialogs that take them, and only for the topmost.
func TestSteps(t *testing.T) {
	var s Stack
	d := &stepper{Text: *NewText("steps", nil)}
	s.Push(d)
	if r := s.Handle(intent.Accept); r != (stays{}) || !s.Has(d) {
		t.Errorf("result %v, open %v", r, s.Open())
	}
	if r := s.Click(1, 1); r != nil || d.clicks != 1 || !s.Has(d) {
		t.Errorf("click: %v, %d", r, d.clicks)
	}
	s.Push(NewText("above", nil))
	if r := s.Click(9, 1); r != nil || d.clicks != 1 {
		t.Errorf("a click below the topmost dialog: %v, %d", r, d.clicks)
	}
	s.Handle(intent.Cancel)
	if r := s.Click(9, 1); r != (picked{"click"}) || s.Open() {
		t.Errorf("click that ends: %v, open %v", r, s.Open())
	}
	if r := s.Click(9, 1); r != nil {
		t.Errorf("click without a dialog: %v", r)
	}
}
