package markdown

import (
	"strings"
	"testing"
	"unicode"

	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
)

func joined(lines []styled.Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(l.Text(), " "))
	}
	return strings.Join(out, "\n")
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"paragraphs", "one two three four five\n\nsix", "one two three four\nfive\n\nsix"},
		{"heading", "# Title\ntext", "# Title\n\ntext"},
		{"list", "- a\n- b\n  - c\n\n1. x\n2. y", "• a\n• b\n  • c\n\n1. x\n2. y"},
		{"loose list", "- a\n\n- b", "• a\n\n• b"},
		{"code", "```go\nfunc main() {\n\treturn\n}\n```", "  func main() {\n      return\n  }"},
		{"quote", "> said\n> so", "│ said so"},
		{"link", "[here](https://x.y)", "here (https://x.y)"},
		{"emphasis", "a *b* **c** ~~d~~ `e`", "a b c d e"},
		{"entity", "&lt;b&gt; &#65; &copy;", "<b> A ©"},
		{"escape as entity", "&#27;[31m &#x1b;]0;x&#7;", "␛[31m ␛]0;x␇"},
		{"bidi as entity", "a&#x202e;b", "a<U+202E>b"},
		{"html", "<script>x</script>", "  <script>x</script>"},
		{"table", "|a|b|\n|-|-|\n|1|22|", "a │ b\n──────\n1 │ 22"},
		{"tasks", "- [x] done\n- [ ] open", "• [x] done\n• [ ] open"},
		{"hard break", "a  \nb", "a\nb"},
		{"long word", strings.Repeat("x", 45), strings.Repeat("x", 20) + "\n" + strings.Repeat("x", 20) + "\nxxxxx"},
	} {
		if got := joined(New().Render(c.in, 20)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"# a\n\n- b\n  - c", "&#27;[0m", "```\n\x1b]52;c;x\a\n```", "|a|\n|-|\n|\x9b|",
		strings.Repeat("> ", 200) + "x", strings.Repeat("- ", 100), "<a\x1b>", "[x](y\x1b)", "\u202e"} {
		f.Add(s)
	}
	r := New()
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range r.Render(s, 40) {
			for _, c := range l.Text() {
				if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
					t.Fatalf("%q holds %U", l.Text(), c)
				}
			}
			if strings.Count(s, ">") < 5 && strings.Count(s, "-") < 5 && strings.Count(s, "|") < 2 &&
				strings.Count(s, ".") < 5 &&
				strings.Count(s, "*") < 5 && strings.Count(s, "+") < 5 && strings.Count(s, ")") < 5 &&
				plain.Width(l.Text()) > 44 {
				t.Fatalf("%q is %d wide", l.Text(), plain.Width(l.Text()))
			}
		}
	})
}

func BenchmarkRender(b *testing.B) {
	src := strings.Repeat("# Title\n\nSome *text* with `code` and more words to wrap around the edge.\n\n"+
		"- item\n- item\n\n```go\nx := 1\n```\n\n", 100)
	r := New()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		r.Render(src, 100)
	}
}
