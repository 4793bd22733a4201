package alert

import (
	"encoding/base64"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestSequences: no text ends or begins a sequence; each way has exactly its own.
func TestSequences(t *testing.T) {
	bad := "a\x1b\\b\x07c\u009cd\x9ce;f\n\x1b]52;c;aGk=\x07" + strings.Repeat("x", 1000)
	for way, want := range map[string]int{"bell": 0, "osc9": 1, "osc777": 1, "osc99": 2, "other": 0} {
		got := sequence([]string{way}, bad, bad)
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
	got := sequence([]string{"osc99"}, "docs", "asks: ls")
	if want := "\x1b]99;i=orchestrator:d=0:e=1;" + base64.StdEncoding.EncodeToString([]byte("docs")) + "\x1b\\"; !strings.HasPrefix(got, want) {
		t.Errorf("%q does not begin with %q", got, want)
	}
	if call, line := (Config{Kinds: []thread.HappeningKind{thread.HappenedAsks}}).Of(thread.Happening{Thread: "a", Kind: thread.HappenedAsks}, Window{Known: true}); call != nil || !line {
		t.Error("without a way it is a line alone")
	}
}
