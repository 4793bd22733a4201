package hidden_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/mcpctl/hidden"
)

// TestP3Hidden finds every kind of hidden characters and makes them visible.
func TestP3Hidden(t *testing.T) {
	for _, c := range []struct{ in, kinds, visible string }{
		{"plain, ünïcödé 日本語 ✓", "", "plain, ünïcödé 日本語 ✓"},
		{"a\tb\nc", "", "a␉b␊c"},
		{"a\u200bb\u200cc\u200dd\ufeffe\u2060f\u00adg", "zero width", "a<U+200B>b<U+200C>c<U+200D>d<U+FEFF>e<U+2060>f<U+00AD>g"},
		{"a\u202eb\u2066c\u200fd\u061c", "direction", "a<U+202E>b<U+2066>c<U+200F>d<U+061C>"},
		{"hi\U000e0068\U000e0069\U000e007f\U000e0000", "tag", "hi<U+E0068><U+E0069><U+E007F><U+E0000>"},
		{"\x1b[31mred\x1b]8;;\x07", "control", "␛[31mred␛]8;;␇"},
		{"a\x00b\x7fc\u0085d\u009be", "control", "a␀b␡c<U+0085>d<U+009B>e"},
		{"a\u00a0b\u3000c\u2003d\u2028e\u2800f", "blank", "a<U+00A0>b<U+3000>c<U+2003>d<U+2028>e<U+2800>f"},
		{"a\ufe0fb\U000e0101c\ue000d\u3164", "invisible", "a<U+FE0F>b<U+E0101>c<U+E000>d<U+3164>"},
		{"a\xffb", "not UTF-8", "a<FF>b"},
		{"a\ufffdb", "", "a\ufffdb"},
		{"\u200b\x1b\u200b", "zero width,control", "<U+200B>␛<U+200B>"},
	} {
		var kinds []string
		for _, f := range hidden.Find(c.in) {
			kinds = append(kinds, f.Kind)
		}
		if got := strings.Join(kinds, ","); got != c.kinds {
			t.Errorf("Find(%q) = %s, want %s", c.in, got, c.kinds)
		}
		if got := hidden.Visible(c.in); got != c.visible {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.visible)
		}
	}
	got := hidden.Find("ab\u200bc\u200b")
	if want := []hidden.Finding{{Kind: "zero width", Count: 2, First: 2}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202e\xff\x1b\n")
	f.Fuzz(func(t *testing.T, s string) {
		v := hidden.Visible(s)
		if !utf8.ValidString(v) || hidden.Find(v) != nil || strings.ContainsAny(v, "\n\t") {
			t.Errorf("Visible(%q) = %q", s, v)
		}
		if hidden.Visible(v) != v {
			t.Errorf("not idempotent: %q", v)
		}
	})
}
