package clipboard

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCopy(t *testing.T) {
	for _, tt := range []struct{ text, copied, says string }{
		{"", "", ""}, {"one", "one", "1 line copied, 3 B"}, {"one\ntwo\n", "one\ntwo\n", "2 lines copied, 8 B"},
		{"a\x1b]52;c;aGk=\x07\u202e\r\n", "a␛]52;c;aGk=␇<U+202E>\n", "1 line copied, 26 B"},
	} {
		cmd, c := Copy(tt.text)
		if cmd == nil {
			if tt.copied != "" {
				t.Errorf("%q is not copied", tt.text)
			}
			continue
		}
		if got := fmt.Sprint(cmd()); got != tt.copied {
			t.Errorf("%q is copied as %q", tt.text, got)
		}
		if got := c.Says(""); got != tt.says {
			t.Errorf("%q: %s", tt.text, got)
		}
	}
}

// TestTooLong: what terminals do not take is cut at a character, and said.
func TestTooLong(t *testing.T) {
	cmd, c := Copy(strings.Repeat("日", 40<<10))
	got := fmt.Sprint(cmd())
	if len(got) > Most || len(got) < Most-3 || !utf8.ValidString(got) {
		t.Errorf("%d bytes are copied", len(got))
	}
	if says := c.Says("answer"); !c.Cut() || says != "answer copied, but only the first 73.2 KiB of 120 KiB: terminals take no more" {
		t.Error(says)
	}
}

// FuzzCopy: nothing that a terminal acts on is copied.
func FuzzCopy(f *testing.F) {
	f.Add("\x1b[31m\u009b")
	f.Fuzz(func(t *testing.T, text string) {
		cmd, c := Copy(text)
		if cmd == nil {
			return
		}
		got := fmt.Sprint(cmd())
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q is copied as %q", text, got)
			}
		}
		if c.Bytes != len(got) || len(got) > Most {
			t.Fatalf("%d bytes are copied, %d said", len(got), c.Bytes)
		}
	})
}
