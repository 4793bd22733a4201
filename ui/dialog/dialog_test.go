package dialog

import (
	"strings"
	"testing"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
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
		"  ✗ internal/with/a/long/name.go": "  ✗ internal/with/|    a/long/name.go",
		"✓ one two three four":             "✓ one two three|  four",
		"  one two three four":             "  one two three|  four",
		"one two three four":               "one two three four",
		"✗":                                "✗",
		"+1 is no mark, it is a number":    "+1 is no mark, it|is a number",
	} {
		var got []string
		for _, l := range wrap(Plain(line), 18) {
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
