package reading

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"orchestrator/agent/vterm"
	"orchestrator/ui/intent"

	"pgregory.net/rapid"
)

// over returns the text of a terminal that shows lines.
func over(cols, rows int, lines ...string) *Text {
	t := vterm.New(cols, rows, vterm.Options{})
	_, _ = t.Write([]byte(strings.Join(lines, "\r\n")))
	return New(t, 0)
}

// keys are the keys of the tests, as they are bound by default.
var keys = func() map[string]intent.Intent {
	table, err := intent.NewTable(nil)
	if err != nil {
		panic(err)
	}
	out := map[string]intent.Intent{}
	for _, b := range table.Bindings(intent.Scroll) {
		for _, k := range b.Keys() {
			out[k] = b.Action
		}
	}
	for d := range 9 {
		out[fmt.Sprint(d+1)] = intent.Digit{N: d + 1}
	}
	return out
}()

// press types keys: one letter each, or a name in <>.
func press(r *Text, typed string) {
	for typed != "" {
		k := typed[:1]
		if k == "<" {
			k = typed[1:strings.IndexByte(typed, '>')]
			typed = typed[len(k)+1:]
		}
		typed = typed[1:]
		switch in := keys[k].(type) {
		case intent.Digit:
			r.Digit(in.N)
		case intent.Action:
			r.Act(in)
		default:
			panic("no key " + k)
		}
	}
}

var prose = []string{
	"func main() {", "  fmt.Println(1, x_2)", "}", "", "second block", "  of three", "lines", "", "", "last one, 日本 end",
}

func TestMotions(t *testing.T) {
	for _, tt := range []struct{ typed, at string }{
		{"g", "0,0"}, {"G", "9,0"}, {"3G", "2,0"}, {"5g", "4,0"}, {"99G", "9,0"}, {"12g", "9,0"},
		{"gj", "1,0"}, {"gl", "0,1"}, {"g99l", "0,12"}, {"g3lh", "0,2"}, {"gh", "0,0"}, {"gk", "0,0"}, {"Gj", "9,0"},
		{"g10lj", "1,10"}, {"g10ljj", "2,0"}, {"g10ljjk", "1,10"}, {"g$j", "1,20"}, {"g$jj", "2,0"}, {"g$jjk", "1,20"},
		{"gj^", "1,2"}, {"gj$0", "1,0"}, {"g<down><right>", "1,1"},
		{"gw", "0,5"}, {"gww", "0,9"}, {"g3w", "0,12"}, {"g4w", "1,2"}, {"g5w", "1,5"}, {"g9w", "1,15"}, {"g11w", "1,20"},
		{"g12w", "2,0"}, {"g13w", "3,0"}, {"g14w", "4,0"}, {"Gw", "9,5"}, {"G9w", "9,17"},
		{"ge", "0,3"}, {"gee", "0,8"}, {"g3e", "0,10"}, {"g4e", "0,12"}, {"g5e", "1,4"},
		{"gjb", "0,12"}, {"gj^b", "0,12"}, {"gjwwb", "1,2"}, {"gb", "0,0"}, {"5gb", "2,0"},
		{"g}", "4,0"}, {"g}}", "9,0"}, {"g}}}", "9,0"}, {"g2}", "9,0"}, {"G{", "4,0"}, {"G{{", "0,0"}, {"6g{", "4,0"}, {"8g{", "4,0"},
		{"G$", "9,17"}, {"G$h", "9,16"}, {"G10l", "9,10"}, {"G10ll", "9,12"}, {"G10lllh", "9,12"}, {"G12lh", "9,12"},
		{"gL", "3,0"}, {"gM", "1,2"}, {"gH", "0,0"}, {"gG<pgup>", "6,0"}, {"g<pgdown>", "3,0"}, {"g<ctrl+d>", "2,0"},
		{"g<ctrl+d><ctrl+u>", "0,0"}, {"g<pgdown><pgdown><pgdown><pgdown>", "9,0"}, {"G<pgup><pgup><pgup><pgup>", "0,0"},
		{"g10l0", "0,0"}, {"g1", "0,0"}, {"g2j2l", "2,0"},
	} {
		r := over(22, 4, prose...)
		press(r, tt.typed)
		if got := fmt.Sprintf("%d,%d", r.at.Line, r.at.X); got != tt.at {
			t.Errorf("%s: at %s, want %s", tt.typed, got, tt.at)
		}
	}
}

func TestSelections(t *testing.T) {
	for _, tt := range []struct{ typed, text string }{
		{"gv3l", "func"}, {"gve", "func"}, {"gvj", "func main() {\n"}, {"gVj", "func main() {\n  fmt.Println(1, x_2)"},
		{"gjVk", "func main() {\n  fmt.Println(1, x_2)"}, {"gv$", "func main() {"}, {"gwvb", "func m"},
		{"g<ctrl+v>2l3j", "fun\n  f\n}\n"}, {"4g<ctrl+v>4lj", "\nsecon"}, {"gvV", "func main() {"}, {"gvv", ""},
		{"6go", "second block\n  of three\nlines"}, {"go", "func main() {\n  fmt.Println(1, x_2)\n}"}, {"Go", "last one, 日本 end"},
		{"9go", "second block\n  of three\nlines"}, {"G10lv", "日"}, {"G10lvl", "日本"}, {"G11lvh", "日本"}, {"G10lvh", " 日"},
		{"G<ctrl+v>10l", "last one, 日"},
	} {
		r := over(22, 4, prose...)
		press(r, tt.typed)
		if got := r.Selected(); got != tt.text {
			t.Errorf("%s: %q, want %q", tt.typed, got, tt.text)
		}
	}
}

func TestSearch(t *testing.T) {
	lines := []string{"Alpha beta", "ALPHA gamma", "straße alpha", "a long line that wraps: alphabet", "", "日本語 Größe"}
	for _, tt := range []struct {
		query, then string
		back        bool
		at          string
		of          int
	}{
		{"alpha", "", false, "0,0", 4}, {"alpha", "n", false, "1,0", 4}, {"alpha", "nnnn", false, "0,0", 4},
		{"alpha", "N", false, "4,2", 4}, {"alpha", "3n", false, "4,2", 4}, {"Alpha", "n", false, "0,0", 1},
		{"ALPHA", "", false, "1,0", 1}, {"alpha", "", true, "4,2", 4}, {"alpha", "n", true, "2,7", 4},
		{"alpha", "N", true, "0,0", 4}, {"größe", "", false, "6,7", 1}, {"語 g", "", false, "6,4", 1}, {"nothing", "", false, "0,0", 0},
		{"straSSe", "", false, "0,0", 0}, {"wraps: alphabet", "", false, "3,17", 1},
	} {
		r := over(22, 4, lines...)
		press(r, "g")
		if tt.query == "alpha" && !tt.back {
			r.move(vterm.Point{Line: 6}) // the search does not begin on a match, and goes around the end
		}
		r.Begin(tt.back)
		r.Search(tt.query)
		press(r, tt.then)
		_, _, of, _ := r.Found()
		if got := fmt.Sprintf("%d,%d", r.at.Line, r.at.X); got != tt.at || of != tt.of {
			t.Errorf("%s %v %s: at %s of %d, want %s of %d", tt.query, tt.back, tt.then, got, of, tt.at, tt.of)
		}
	}
}

// TestSearchAsTyped: each letter goes on from where the search began, and nothing typed goes back there.
func TestSearchAsTyped(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("number %d", i))
	}
	r := over(20, 5, lines...)
	press(r, "10g")
	top := r.Window()
	r.Begin(false)
	for query, line := range map[string]uint64{"5": 15, "55": 55, "555": 9, "": 9, "number 99": 99} {
		r.Search(query)
		if r.at.Line != line {
			t.Errorf("%q: line %d, want %d", query, r.at.Line, line)
		}
		if h := r.Hits(); query != "" && query != "555" && len(h) == 0 {
			t.Errorf("%q: no match in the window", query)
		}
	}
	if r.Search(""); r.Window() != top {
		t.Errorf("the window begins with %d, before with %d", r.Window(), top)
	}
}

// TestLink: at the cursor is the link of the program, with its whole text, or an address that is written, across lines.
func TestLink(t *testing.T) {
	r := over(16, 8, "\x1b]8;;https://a.b/doc\x07the \x1b[1mdocs of a thing\x1b]8;;\x07 https://plain.example/path, x",
		"\x1b]8;;file:///etc/passwd\x07file\x1b]8;;\x07 \x1b]8;;https://evil.test/\x07https://good.io/")
	seen := map[string]string{}
	for press(r, "g"); ; {
		if text, target := r.Link(); target != "" {
			seen[text] = target
		}
		was := r.at
		if press(r, "w"); r.at == was {
			break
		}
	}
	want := map[string]string{"the docs of a thing": "https://a.b/doc", "https://plain.example/path": "https://plain.example/path",
		"https://good.io/": "https://evil.test/"}
	if !maps.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
}

// TestResize: the cursor and the selection stay on their text.
func TestResize(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("line %03d %s <%03d> tail", i, strings.Repeat("x", i%40), i))
	}
	r := over(80, 10, lines...)
	r.Begin(false)
	r.Search("<123>")
	press(r, "v4l")
	for _, s := range [][2]int{{30, 10}, {17, 5}, {200, 50}, {5, 3}, {80, 10}} {
		r.Resize(s[0], s[1])
		if got := strings.ReplaceAll(r.Selected(), "\n", ""); got != "<123>" {
			t.Errorf("%v: %q is selected", s, got)
		}
		if at := r.At(); at.Line < r.Window() || at.Line >= r.Window()+uint64(s[1]) {
			t.Errorf("%v: the cursor is in line %d, the window begins with %d", s, at.Line, r.Window())
		}
	}
}

// TestAnything: whatever is typed and however the size changes, the cursor stays in the window and on a character, and
// what is selected is text.
func TestAnything(t *testing.T) {
	var names []string
	for k := range keys {
		names = append(names, k)
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab _,日é🚀 \x1b[31m\u0301\t")), 0, 60, -1), 0, 40).Draw(t, "lines")
		r := over(rapid.IntRange(1, 40).Draw(t, "cols"), rapid.IntRange(1, 12).Draw(t, "rows"), lines...)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				r.Resize(rapid.IntRange(1, 50).Draw(t, "cols"), rapid.IntRange(1, 12).Draw(t, "rows"))
			case 1:
				r.Begin(rapid.Bool().Draw(t, "back"))
				r.Search(rapid.SampledFrom([]string{"a", "b ", "日", "é", "A", ""}).Draw(t, "query"))
			case 2:
				p := vterm.Point{Line: r.Window() + uint64(rapid.IntRange(0, 12).Draw(t, "y")), X: rapid.IntRange(0, 50).Draw(t, "x")}
				r.Press(p, rapid.IntRange(1, 3).Draw(t, "clicks"))
				p.Line += uint64(rapid.IntRange(0, 3).Draw(t, "dy"))
				r.Drag(p, rapid.Bool().Draw(t, "block"))
			case 3:
				r.Scroll(rapid.IntRange(-20, 20).Draw(t, "lines"))
			default:
				if a, ok := keys[rapid.SampledFrom(names).Draw(t, "key")].(intent.Action); ok {
					r.Act(a)
				}
			}
			cols, rows := r.term.Size()
			if r.at.Line < r.top || r.at.Line >= r.top+uint64(rows) || r.at.X < 0 || r.at.X >= cols {
				t.Fatalf("the cursor is at %v, the window of %d×%d begins with %d", r.at, cols, rows, r.top)
			}
			if line, of := r.Position(); line < 1 || line > of {
				t.Fatalf("line %d of %d", line, of)
			}
			if strings.ContainsAny(r.Selected(), "\x1b\x00\r\t") {
				t.Fatalf("%q is selected", r.Selected())
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	t := vterm.New(120, 40, vterm.Options{})
	for i := range 10000 {
		_, _ = fmt.Fprintf(t, "%05d the quick brown fox jumps over the lazy dog and then some more text\r\n", i)
	}
	b.Run("freeze", func(b *testing.B) {
		for b.Loop() {
			t.Frozen()()
		}
	})
	r := New(t.Frozen()(), 0)
	b.Run("search", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r.find.query = "lazy dog"
			r.find.again(r.term)
		}
	})
	b.Run("resize", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r.Resize(100+i%2, 40)
		}
	})
}
