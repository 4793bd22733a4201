package dialog

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

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
	below, above := NewText("below", Plain("x")), NewAsk("above", Plain("y"), Choice{Label: "go", Result: Resumed{"1"}})
	s.Push(below)
	s.Push(above)
	if got := s.Handle(intent.Up); got != nil {
		t.Errorf("up ends in %v", got)
	}
	if got := s.Handle(intent.Accept); got != (Resumed{"1"}) || s.Top() != Dialog(below) {
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
	agents := []thread.AgentInfo{{Name: "demo", Found: true}}
	var s Stack
	s.Push(NewNewThread(agents, Defaults{Agent: "demo", Dir: "/x", Git: true}))
	for range 6 {
		s.Handle(intent.NextField)
	}
	s.Handle(intent.Type{Text: "mode-x"})
	if got := draw(t, &s, 60, 12); !strings.Contains(got, "mode-x") {
		t.Errorf("the field typed into is out of sight:\n%s", got)
	}
	r, ok := s.Handle(intent.Accept).(NewThread)
	if !ok || r.Request.Flags.PermissionMode+r.Request.Model != "mode-x" {
		t.Errorf("result %+v", r)
	}
}

func TestProof(t *testing.T) {
	for _, c := range []struct {
		p    *thread.ResumeProof
		want string
	}{
		{nil, "not checked yet"},
		{&thread.ResumeProof{How: thread.ResumeNative, Bytes: 1234567}, "transcript verified (1,234,567 bytes)"},
		{&thread.ResumeProof{How: thread.ResumeFresh, Prompts: []thread.Prompt{{Text: "first"}, {Text: "second\nline"}}},
			"nothing was said yet · not answered: “second” and 1 more"},
		{&thread.ResumeProof{How: thread.ResumeNative, Bytes: 1}, "transcript verified (1 byte)"},
		{&thread.ResumeProof{How: thread.ResumeRebuilt, Detail: "written anew\x1b[m", Worktree: "clean"}, "written anew␛[m · worktree: clean"},
		{&thread.ResumeProof{How: thread.ResumePrimer, Incomplete: "turn 3"}, "a summary of what is stored · incomplete: turn 3"},
		{&thread.ResumeProof{How: thread.ResumeFresh}, "nothing was said yet"},
	} {
		if got, _ := Proof(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	if got := Count(1, "line") + ", " + Count(2, "line") + ", " + Count(0, "line"); got != "1 line, 2 lines, 0 lines" {
		t.Error(got)
	}
}

func TestPicker(t *testing.T) {
	p := NewPicker("commands", []Item{{Title: "fork here", Result: Resumed{"f"}}, {Title: "rename", Result: Resumed{"r"}}})
	for _, c := range "rnm" {
		p.Handle(intent.Type{Text: string(c)})
	}
	if got := p.Handle(intent.Accept); got != (Resumed{"r"}) {
		t.Errorf("picked %v", got)
	}
	p.Handle(intent.Type{Text: "zzz"})
	if got := p.Handle(intent.Accept); got != nil {
		t.Errorf("picked %v of nothing", got)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		open bool
	}{
		{"", nil, false},
		{"  sh  -c\t'a  b' ", []string{"sh", "-c", "a  b"}, false},
		{`"" x''y "it's" 'say "hi"'`, []string{"", "xy", "it's", `say "hi"`}, false},
		{`a\ b "q\"q" "\n" '\n'`, []string{"a b", `q"q`, `\n`, `\n`}, false},
		{"größe '修复 缓存'", []string{"größe", "修复 缓存"}, false},
		{`"open`, nil, true}, {`'open "x"`, nil, true}, {`end\`, nil, true},
	} {
		got, closed := words(c.in)
		if closed == c.open || !c.open && !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, closed %v", c.in, got, closed)
		}
	}
}
