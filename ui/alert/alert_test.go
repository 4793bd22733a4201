package alert

import (
	"encoding/base64"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/glyph"
)

// TestSequences: no text ends or begins a sequence; each way has exactly its own.
func TestSequences(t *testing.T) {
	bad := "a\x1b\\b\x07c\u009cd\x9ce;f\n\x1b]52;c;aGk=\x07" + strings.Repeat("x", 1000)
	for way, want := range map[string]int{"bell": 0, "osc9": 1, "osc777": 1, "osc99": 2, "other": 0} {
		got := sequence(glyph.Unicode, []string{way}, bad, bad)
		if n := strings.Count(got, "\x1b]"); n != want || strings.Count(got, "\x1b\\") != want || strings.Count(got, "\x1b") != 2*want {
			t.Errorf("%s: %d sequences in %q", way, n, got)
		}
		if strings.ContainsAny(got, "\n\u009c") || strings.Contains(got, "\x9c") && way != "osc99" || (strings.Count(got, "\a") != 0) != (way == "bell") {
			t.Errorf("%s: %q", way, got)
		}
		if len(got) > 1500 {
			t.Errorf("%s: %d bytes", way, len(got))
		}
	}
	got := sequence(glyph.Unicode, []string{"osc99"}, "docs", "asks: ls")
	if want := "\x1b]99;i=orchestrator:d=0:e=1;" + base64.StdEncoding.EncodeToString([]byte("docs")) + "\x1b\\"; !strings.HasPrefix(got, want) {
		t.Errorf("%q does not begin with %q", got, want)
	}
	if call, line := (Config{Kinds: []thread.HappeningKind{thread.HappenedAsks}}).Of(thread.Happening{Thread: "a", Kind: thread.HappenedAsks}, Window{Known: true}); call != nil || !line {
		t.Error("without a way it is a line alone")
	}
}

// TestBytes: a terminal that takes no UTF-8 gets ASCII alone, whatever names and texts are in.
func TestBytes(t *testing.T) {
	for way, want := range map[string]string{"osc9": "\x1b]9;d?cs: asks - ??? ...\x1b\\", "osc777": "\x1b]777;notify;d?cs;asks - ??? ...\x1b\\"} {
		if got := sequence(glyph.Bytes, []string{way}, "döcs", "asks – 日本語 ..."); got != want {
			t.Errorf("%s: %q, want %q", way, got, want)
		}
	}
	long := strings.Repeat("ü", 1000)
	for _, way := range []string{"bell", "osc9", "osc777", "osc99"} {
		got := sequence(glyph.Bytes, []string{way}, long, long)
		if strings.ContainsFunc(got, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("%s: %q", way, got)
		}
		if told := sequence(glyph.Unicode, []string{way}, long, long); way != "bell" && way != "osc99" && !strings.Contains(told, "üü") {
			t.Errorf("%s: %q", way, told)
		}
	}
}
