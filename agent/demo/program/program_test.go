package program

import (
	"reflect"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string // reads
		want []key
	}{
		{"letters", []string{"aä"}, []key{{keyRune, "a"}, {keyRune, "ä"}}},
		{"cut letter", []string{"\xc3", "\xa4"}, []key{{keyRune, "ä"}}},
		{"enter and newline", []string{"\r\n"}, []key{{kind: keyEnter}, {kind: keyNewline}}},
		{"escape alone", []string{"\x1b"}, []key{{kind: keyEscape}}},
		{"arrow", []string{"\x1b[A\x1bOB"}, []key{{kind: keyUp}, {kind: keyDown}}},
		{"cut arrow", []string{"\x1b[", "A"}, []key{{kind: keyUp}}},
		{"unknown keys", []string{"\x1b[200;5u\x1b[1;5Cx\x1b[I"}, []key{{keyRune, "x"}}},
		{"paste", []string{"\x1b[200~one\rtwo\x1b[201~\r"}, []key{{keyPaste, "one\ntwo"}, {kind: keyEnter}}},
		{"cut paste", []string{"\x1b[200~on", "e\x1b[20", "1~"}, []key{{keyPaste, "one"}}},
		{"a terminal's answers", []string{"\x1b]10;rgb:0/0/0\x1b\\\x1b[?62;22cx"}, []key{{keyRune, "x"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p parser
			var got []key
			for _, b := range c.in {
				got = append(got, p.parse([]byte(b))...)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x1b[200~x\x1b[201~\x1b[A\x1b]0;x\x07\xff\r"), 3)
	f.Fuzz(func(_ *testing.T, b []byte, cut int) {
		var p parser
		cut = min(max(cut, 0), len(b))
		var e editor
		for _, k := range append(p.parse(b[:cut]), p.parse(b[cut:])...) {
			e.key(k)
			e.lines(20)
		}
	})
}

func TestWrapAndChop(t *testing.T) {
	for _, text := range []string{
		"", "short", strings.Repeat("word ", 30), strings.Repeat("x", 50),
		"日本語のテキストは幅が二倍です" + strings.Repeat("漢", 20), "a\n\nb",
	} {
		for _, cut := range []func(string, int) []string{wrap, chop} {
			lines := cut(text, 10)
			for _, l := range lines {
				if w := displaywidth.String(l); w > 10 {
					t.Errorf("%q is %d wide", l, w)
				}
			}
			squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
			if squeeze(strings.Join(lines, "")) != squeeze(text) {
				t.Errorf("%q lost something: %q", text, lines)
			}
		}
	}
}

func TestPlain(t *testing.T) {
	if got := plain("a\x1b[31mb\x07\x9b\u009bc\td\ne\x00\u202a"); got != "a[31mbc d\ne\u202a" {
		t.Errorf("%q", got)
	}
}

func TestStreamMustEnd(t *testing.T) {
	for _, in := range []string{
		"", "data: no json\n\n", `data: {"type":"message_start"}` + "\n\n",
		`data: {"type":"content_block_delta","index":5}` + "\n\n", `data: {"type":"error","error":{"type":"x"}}` + "\n\n",
	} {
		if _, err := readStream(strings.NewReader(in), func(string) {}); err == nil {
			t.Errorf("%q was taken for an answer", in)
		}
	}
}

func TestPathIsShortened(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for _, c := range []struct {
		path string
		cols int
		want string
	}{
		{"/home/me/src/shop", 40, "~/src/shop"}, {"/home/me", 40, "/home/me"}, {"/home/melissa/x", 40, "/home/melissa/x"},
		{"/home/me/.local/state/orchestrator/shop-1/worktrees/try-jwt", 30, "…/shop-1/worktrees/try-jwt"},
		{"/srv/" + strings.Repeat("x", 50), 20, strings.Repeat("x", 19) + "…"},
	} {
		s := &screen{cols: c.cols}
		got := s.clippedLeft(tilde(c.path), 0)
		if got != c.want || displaywidth.String(got) > c.cols {
			t.Errorf("%s at %d: %q, want %q", c.path, c.cols, got, c.want)
		}
	}
}

// The transcript is laid out again in another width: no word is broken where a line is longer than the screen was.
func TestAgainInAnotherWidth(t *testing.T) {
	var b strings.Builder
	s := &screen{w: &b, cols: 80}
	text := "That did not work: openat README.md: no such file or directory"
	s.draw(append(s.wrapped("", "● ", "  ", text), line{text: "  └ " + strings.Repeat("x", 60)}), nil, 0, 0)
	for _, cols := range []int{40, 20, 100} {
		s.cols = cols
		above := s.again()
		s.draw(above, nil, 0, 0)
		var got []string
		for _, l := range above {
			if w := displaywidth.String(l.text); w > cols {
				t.Errorf("%q is %d wide at %d", l.text, w, cols)
			}
			got = append(got, strings.TrimSpace(strings.TrimPrefix(l.text, "● ")))
		}
		if all := strings.Join(got, " "); !strings.HasPrefix(all, text) {
			t.Errorf("at %d: %q", cols, all)
		}
	}
	for range 3 * mostShown {
		s.draw([]line{{text: "x"}}, nil, 0, 0)
	}
	if len(s.shown) != mostShown {
		t.Errorf("%d are kept", len(s.shown))
	}
}
