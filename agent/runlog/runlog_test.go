package runlog_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orchestrator/agent/runlog"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

var update = flag.Bool("update", false, "write the golden logs")

var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// usual is a run with everything in it.
func usual() []thread.RunEvent {
	return []thread.RunEvent{
		{Kind: thread.RunSession, Session: "0199a1b2-77aa-7c01-9d2e-3f4a5b6c7d8e", Model: "large-5"},
		{Kind: thread.RunThinking, Text: "The test fails since the last change. "},
		{Kind: thread.RunThinking, Text: "I should look at it first.\n"},
		{Kind: thread.RunText, Text: "I'll look at the tests of the parser first, then at what has changed in it since they passed "},
		{Kind: thread.RunText, Text: "the last time.\n\n"},
		{Kind: thread.RunTool, Tool: "Bash", Call: "1", Text: `{"command":"go test ./parser/... 2>&1 | head -n 100","description":"Run the tests of the parser and show the first lines"}`},
		{Kind: thread.RunResult, Call: "1", Failed: true, Text: "--- FAIL: TestNumbers (0.00s)\n\tparser_test.go:41: 0x1F: got 1, want 31\n\tparser_test.go:41: 0b11: got 0, want 3\nFAIL\nFAIL\tparser\t0.012s\nFAIL\n"},
		{Kind: thread.RunUsage, Usage: &thread.Usage{Input: 1200, CacheRead: 10_000, Output: 340, CostUSD: 0.031, Priced: true}},
		{Kind: thread.RunTool, Tool: "Read", Call: "2", Text: "parser/number.go"},
		{Kind: thread.RunResult, Call: "2", Text: "package parser"},
		{Kind: thread.RunTool, Tool: "Task", Call: "3", Text: "look for other users of parseNumber"},
		{Kind: thread.RunText, Sub: "3", Text: "Two files use it.\nBoth in this package."},
		{Kind: thread.RunTool, Sub: "3", Tool: "Grep", Call: "4", Text: "parseNumber"},
		{Kind: thread.RunResult, Sub: "3", Call: "4", Text: "a.go\nb.go"},
		{Kind: thread.RunRefused, Tool: "Bash", Text: "rm -rf build asks a person, and nobody is there"},
		{Kind: thread.RunNotice, Text: "the provider is overloaded; it tries again in 4 s"},
		{Kind: thread.RunLine, Text: "ripgrep is not available", Stderr: true},
		{Kind: thread.RunText, Text: "Fixed: the base was read **after** the digits.\n\n- `0x1F` is 31\n- `0b11` is 3\n\n\u4e2d\u6587\u3082 ok \U0001f44d\U0001f3fd"},
		{Kind: thread.RunUsage, Usage: &thread.Usage{Input: 300, CacheRead: 11_000, Output: 90, CostUSD: 0.012, Priced: true}},
		{Kind: thread.RunEnd, Outcome: thread.RunCompleted, At: began.Add(83 * time.Second)},
	}
}

// show is the log of events in an emulator of a size, and the bytes for it.
func show(cols, rows int, prompt string, events []thread.RunEvent) (*vterm.Terminal, []byte) {
	term := vterm.New(cols, rows, vterm.Options{})
	var l runlog.Log
	l.Resize(cols)
	b := l.AppendPrompt([]byte(runlog.Start), prompt, began)
	for _, e := range events {
		b = l.Append(b, e)
	}
	_, _ = term.Write(b)
	return term, b
}

// lines are those of a screen, without the empty ones at its end.
func lines(term *vterm.Terminal) string {
	var b strings.Builder
	for _, l := range strings.Split(strings.TrimRight(term.Text(), "\n "), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	const prompt = "\nThe tests of the parser fail. Find out why, and mend it.\nChange nothing else.\n"
	for name, c := range map[string]struct {
		cols   int
		prompt string
		events []thread.RunEvent
	}{
		"usual-80":  {80, prompt, usual()},
		"usual-120": {120, prompt, usual()},
		"failed": {80, prompt, []thread.RunEvent{
			{Kind: thread.RunText, Text: "Let me"},
			{Kind: thread.RunEnd, Outcome: thread.RunFailed, Reason: "rate limit reached", At: began.Add(2 * time.Hour)},
		}},
		"cancelled": {80, "wait", []thread.RunEvent{
			{Kind: thread.RunTool, Tool: "Bash", Text: "sleep 100"},
			{Kind: thread.RunEnd, Outcome: thread.RunCancelled, At: began.Add(9 * time.Second)},
		}},
		"long": {80, strings.Repeat("a line of a long prompt\n", 100), []thread.RunEvent{
			{Kind: thread.RunResult, Text: strings.Repeat("a line of a result\n", 1000)},
			{Kind: thread.RunTool, Tool: strings.Repeat("tool", 100), Text: strings.Repeat("input ", 100)},
			{Kind: thread.RunResult, Text: strings.Repeat("x", 1000)},
			{Kind: thread.RunResult, Failed: true},
			{Kind: thread.RunResult},
			{Kind: thread.RunEnd, Outcome: thread.RunCompleted, At: began},
		}},
		"hostile": {80, "\x1b]0;title\a\x1b[2J", []thread.RunEvent{
			{Kind: thread.RunText, Text: "\x1b[31mred\x1b[m \x1b[2J\x1b[H\x1b]52;c;aGk=\a \x00\x07 a\rb \u202etxt \xff\xfe end\r\n\r\nnext\r\n"},
			{Kind: thread.RunTool, Tool: "\x1b[5mBash", Text: "a\x1bcb\x9b2J"},
			{Kind: thread.RunResult, Text: "\x1b[32mok\x1b[0m  \x1b[1;38;5;4mblue\x1b[0m\r\n\tin\x1b[999"},
			{Kind: thread.RunLine, Text: "\x1bP1$r\x1b\\"},
			{Kind: thread.RunEnd, Outcome: "\x1bc", Reason: "\x1bc\nnext", At: began},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			term, _ := show(c.cols, 60, c.prompt, c.events)
			got := lines(term)
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("%v; shows\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// sgr is all that the log may send besides text.
var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// harmless fails for bytes that do more than print lines in colours.
func harmless(t *testing.T, b []byte) {
	t.Helper()
	rest := strings.ReplaceAll(sgr.ReplaceAllString(strings.TrimPrefix(string(b), runlog.Start), ""), "\r\n", "\n")
	if !utf8.ValidString(rest) {
		t.Errorf("not UTF-8: %q", rest)
	}
	for _, r := range rest {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e {
			t.Fatalf("%q in %q", r, rest)
		}
	}
}

// FuzzLog shows whatever agents report, in any order.
func FuzzLog(f *testing.F) {
	for _, e := range append(usual(), thread.RunEvent{Kind: thread.RunText, Text: "\x1b[2J\x1b]0;x\a\u202e\r"}) {
		f.Add(string(e.Kind), e.Text, e.Tool, e.Sub, e.Reason, e.Failed, 80)
	}
	kinds := []thread.RunEventKind{thread.RunSession, thread.RunText, thread.RunThinking, thread.RunTool, thread.RunResult,
		thread.RunRefused, thread.RunUsage, thread.RunNotice, thread.RunLine, thread.RunEnd}
	f.Fuzz(func(t *testing.T, kind, text, tool, sub, reason string, failed bool, cols int) {
		var l runlog.Log
		l.Resize(cols)
		b := l.AppendPrompt(nil, text, began)
		one := thread.RunEvent{Kind: thread.RunEventKind(kind), Text: text, Tool: tool, Sub: sub, Session: reason, Model: tool,
			Reason: reason, Outcome: thread.RunOutcome(tool), Failed: failed, Stderr: failed, At: began}
		b = l.Append(b, one)
		for _, k := range kinds {
			one.Kind = k
			b = l.Append(b, one)
			one.Sub = ""
			b = l.Append(b, one)
		}
		harmless(t, b)
	})
}

// TestLimits: what a run is told of its bounds is one line below the person's words.
func TestLimits(t *testing.T) {
	var l runlog.Log
	l.Resize(60)
	told := work.Told(work.Execution{Caps: thread.Caps{Calls: 20, Words: 500}})
	b := string(l.AppendPrompt(nil, "fix it\nand test it\n\n"+told, began))
	if strings.Count(b, "\n") != 3 || !strings.Contains(b, "limits: Report in at most 500 words; code does not count") || strings.Contains(b, "run-limits") || !strings.Contains(b, "\u2026") {
		t.Errorf("%q", b)
	}
	harmless(t, []byte(b))
}

// TestBound shows a little of what is long.
func TestBound(t *testing.T) {
	long := strings.Repeat("all work and no play\n", 10<<20/21)
	for _, kind := range []thread.RunEventKind{thread.RunText, thread.RunThinking, thread.RunTool, thread.RunResult, thread.RunRefused,
		thread.RunNotice, thread.RunLine} {
		for shape, text := range map[string]string{"lines": long, "a line": strings.ReplaceAll(long, "\n", " ")} {
			var l runlog.Log
			b := l.Append(nil, thread.RunEvent{Kind: kind, Text: text, Tool: text})
			if len(b) > 600<<10 {
				t.Errorf("%s of %s: %d bytes", kind, shape, len(b))
			}
			if !strings.Contains(string(b), "\u2026") {
				t.Errorf("%s of %s: nothing says that something is left out", kind, shape)
			}
		}
	}
}

// TestPieces shows the same whatever pieces a text comes in.
func TestPieces(t *testing.T) {
	text := "one \U0001f468\u200d\U0001f469 two\r\n\n\nthree \x1b[31mred\x1b[m\tcaf\u00e9\n"
	end := thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted, At: began}
	whole, _ := show(80, 24, "p", []thread.RunEvent{{Kind: thread.RunText, Text: strings.ReplaceAll(text, "\x1b[31mred\x1b[m", "red")}, end})
	var events []thread.RunEvent
	for _, r := range strings.ReplaceAll(text, "\x1b[31mred\x1b[m", "red") {
		events = append(events, thread.RunEvent{Kind: thread.RunText, Text: string(r)})
	}
	pieces, b := show(80, 24, "p", append(events, end))
	if pieces.Text() != whole.Text() {
		t.Errorf("in pieces\n%s\nwhole\n%s", lines(pieces), lines(whole))
	}
	harmless(t, b)
}

func BenchmarkLog(b *testing.B) {
	var l runlog.Log
	var dst []byte
	events := usual()
	for b.Loop() {
		for _, e := range events {
			dst = l.Append(dst[:0], e)
		}
	}
	b.ReportMetric(float64(b.N*len(events))/b.Elapsed().Seconds(), "events/s")
}
