package diff

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"
)

// The property tests run the same everywhere; -rapid.seed on the command line wins.
var _ = flag.Set("rapid.seed", "1")

func marked(cuts []cut) string {
	var b strings.Builder
	for _, c := range cuts {
		if c.changed {
			b.WriteString("[" + c.text + "]")
		} else {
			b.WriteString(c.text)
		}
	}
	return b.String()
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ a, b, del, add string }{
		{"return old value", "return new value", "return [old] value", "return [new] value"},
		{"f(a, b)", "f(a, b, c)", "f(a, b)", "f(a, b[, c])"},
		{"entirely different", "x := 1", "entirely different", "x := 1"},
		{"日本 語", "日本 人", "日本 [語]", "日本 [人]"},
	} {
		del, add := words(c.a, c.b)
		if marked(del) != c.del || marked(add) != c.add {
			t.Errorf("%q → %q: %s / %s", c.a, c.b, marked(del), marked(add))
		}
	}
}

// Whatever is marked, the lines themselves stay what they are.
func TestWordsKeepTheText(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab _(),日é ")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		del, add := words(a, b)
		for i, cuts := range [][]cut{del, add} {
			got := ""
			for _, c := range cuts {
				got += c.text
			}
			if want := []string{a, b}[i]; got != want {
				t.Fatalf("%q became %q", want, got)
			}
		}
	})
}

const patch = "@@ -1,3 +1,4 @@ func main\n" +
	" a\n-return old\n+return new\n+\tx \x1b[31m\n c\n\\ No newline at end of file\n"

func TestLines(t *testing.T) {
	got := Lines(thread.FileDiff{Path: "a.go", Patch: patch}, 80)
	var text []string
	for _, l := range got {
		text = append(text, l.Text())
	}
	want := []string{"@@ -1,3 +1,4 @@ func main", "   1    1   a", "   2      - return old", "        2 + return new",
		"        3 +     x ␛[31m", "   3    4   c", `\ No newline at end of file`}
	if strings.Join(text, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
	}
	for _, f := range []thread.FileDiff{{Binary: true}, {Status: "renamed"}, {Status: "added"}, {Status: "type"}, {}} {
		if len(Lines(f, 80)) != 1 {
			t.Errorf("%+v", f)
		}
	}
}

func draw(m *Model, w, h int) string {
	var c layout.Canvas
	c.Reset(w, h)
	m.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), true, nil)
	return c.String()
}

func TestFiles(t *testing.T) {
	m := New()
	m.Show("t", BaseToNow())
	m.Fill("t", OfTurn(3), []thread.FileDiff{{Path: "late"}}, nil)
	if !m.busy {
		t.Fatal("files of another comparison are taken")
	}
	files := []thread.FileDiff{{Path: "a.go", Status: "modified", Patch: patch, Insertions: 2, Deletions: 1},
		{Path: "b.go", Status: "added"}}
	m.Fill("t", BaseToNow(), files, nil)
	if got := draw(m, 150, 12); !strings.Contains(got, "2 files +2 −1") || !strings.Contains(got, "1/2") {
		t.Errorf("\n%s", got)
	}
	m.Handle(intent.NextFile)
	m.Handle(intent.NextFile)
	if m.File() != "b.go" {
		t.Errorf("on show is %s", m.File())
	}
	m.Show("t", BaseToNow())
	m.Fill("t", BaseToNow(), files, nil)
	if m.File() != "b.go" {
		t.Errorf("after loading again %s is on show", m.File())
	}
	if got := OfTurn(1); got.From != "base" || OfTurn(4).From != "3" {
		t.Errorf("turn 1 is compared with %s", got.From)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(patch)
	f.Add("@@ -1 +1 @@\n-\x1b\n+\u202e\n")
	f.Add("+++\n---\n\t\t\t\t\t\t日日日日日日日日日日日日日日日日日日日日日日日日日日日日日")
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range Lines(thread.FileDiff{Patch: s}, 40) {
			for _, r := range l.Text() {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
					t.Fatalf("%q holds %U", l.Text(), r)
				}
			}
			if plain.Width(l.Text()) > 42 {
				t.Fatalf("%q is %d wide", l.Text(), plain.Width(l.Text()))
			}
		}
	})
}

func BenchmarkLines(b *testing.B) {
	var s strings.Builder
	s.WriteString("@@ -1,2000 +1,2000 @@\n")
	for i := range 2000 {
		fmt.Fprintf(&s, " context line %d\n-old line number %d here\n+new line number %d here\n", i, i, i)
	}
	f := thread.FileDiff{Patch: s.String()}
	b.SetBytes(int64(len(f.Patch)))
	for b.Loop() {
		Lines(f, 120)
	}
}
