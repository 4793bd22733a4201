package turn

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/markdown"
	"orchestrator/ui/theme"

	"github.com/charmbracelet/colorprofile"
)

func draw(m *Model, w, h int) string {
	var c layout.Canvas
	c.Reset(w, h)
	m.Draw(&c, c.Bounds(), theme.New(colorprofile.ASCII, true), false)
	return c.String()
}

func shown() *Model {
	m := New(markdown.New())
	m.Show("t", thread.Checkpoint{ID: "c", Turn: 3})
	m.Fill("t", "c", []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "fix the\nbug \x1b[31m"},
		{Kind: thread.EntryThinking, Text: "let me see"},
		{Kind: thread.EntryCall, Tool: "Bash", Call: "1", Text: "ls -la"},
		{Kind: thread.EntryResult, Tool: "Bash", Call: "1", Text: "one.txt\ntwo.txt\n"},
		{Kind: thread.EntryCall, Tool: "Edit", Call: "2", Text: "a.go"},
		{Kind: thread.EntryResult, Call: "2", Text: "no such file", Error: true},
		{Kind: thread.EntryAnswer, Text: "It is **done**.\n\n- one\n- two"},
	}, nil)
	return m
}

func TestFolds(t *testing.T) {
	m := shown()
	got := draw(m, 60, 20)
	for _, want := range []string{"▌ fix the", "bug ␛[31m", "▸ thinking", "▸ Bash  ls -la  2 lines",
		"failed: no such file", "• two"} {
		if !strings.Contains(strip(got), want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "one.txt") {
		t.Error("the result is not folded")
	}
	m.Handle(intent.FoldAll)
	if got := draw(m, 60, 30); !strings.Contains(got, "one.txt") || !strings.Contains(got, "let me see") {
		t.Errorf("not unfolded:\n%s", got)
	}
	m.Handle(intent.FoldAll)
	if got := draw(m, 60, 30); strings.Contains(got, "one.txt") {
		t.Errorf("not folded again:\n%s", got)
	}
	if n := m.Search("BASH"); n != 1 {
		t.Errorf("%d matches", n)
	}
	m.Handle(intent.Toggle)
	if got := draw(m, 60, 30); !strings.Contains(got, "one.txt") {
		t.Errorf("the call under the cursor is not unfolded:\n%s", got)
	}
}

func strip(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			for s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func TestStrangersAndErrors(t *testing.T) {
	m := shown()
	m.Show("t", thread.Checkpoint{ID: "d", Turn: 4})
	m.Fill("t", "c", []thread.Entry{{Kind: thread.EntryAnswer, Text: "late"}}, nil)
	if got := draw(m, 40, 4); strings.Contains(got, "late") {
		t.Error("an answer for another turn is shown")
	}
	m.Fill("t", "d", nil, errors.New("stored data is damaged"))
	if got := draw(m, 40, 4); !strings.Contains(got, "damaged") {
		t.Errorf("the error does not show:\n%s", got)
	}
}

func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{"path":"a.txt"}`:                    "a.txt",
		`{"path":"a.txt","old":"x\ny","n":3}`: "path: a.txt  old: x  n: 3",
		`{"command":"\u001b[31m"}`:            "␛[31m",
		"ls -la":                              "ls -la",
		`{"broken":`:                          `{"broken":`,
		`{}`:                                  "",
	} {
		if got := arguments(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestCopy: at the cursor are the code as it was written, the output of the tool, or the text.
func TestCopy(t *testing.T) {
	m := New(markdown.New())
	m.Show("t", thread.Checkpoint{ID: "c", Turn: 3})
	long := strings.Repeat("x", 100)
	m.Fill("t", "c", []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "fix it"},
		{Kind: thread.EntryCall, Tool: "Bash", Call: "1", Text: "ls"},
		{Kind: thread.EntryResult, Tool: "Bash", Call: "1", Text: "one\ntwo\n"},
		{Kind: thread.EntryAnswer, Text: "First:\n\n```go\n\tif " + long + " {\n\t}\n```\n\nthen\n\n- x\n\n      second()\n\nend"},
	}, nil)
	draw(m, 40, 30)
	seen := map[string]string{}
	for range m.pages.Len() {
		if text, what := m.Copy(); text != "" {
			seen[text] = what
		}
		m.Handle(intent.Down)
	}
	for text, what := range map[string]string{
		"fix it": "prompt", "one\ntwo": "output of Bash", "\tif " + long + " {\n\t}": "code", "second()": "code",
	} {
		if seen[text] != what {
			t.Errorf("%q is %q", text, seen[text])
		}
	}
	if len(seen) != 5 {
		t.Errorf("copied: %q", seen)
	}
}
