package work_test

import (
	"strings"
	"testing"

	"orchestrator/thread/secret/secrettest"
	"orchestrator/thread/work"
)

func TestGapOf(t *testing.T) {
	for _, c := range []struct {
		report, want string
		named        bool
	}{
		{"I read four files.\nGap: the tests of the parser", "the tests of the parser", true},
		{"**Gap:** the tests", "the tests", true},
		{"- gap : two files", "two files", true},
		{"## Gap:\n- the tests\n- the docs\n\nThat is all.", "the tests the docs", true},
		{"Gap: one\nand its rest", "one and its rest", true},
		{"Gap: early\n\nlater\nGap: late", "late", true},
		{"Done.\nGap: none", "", true},
		{"Gap: None.", "", true},
		{"Gap:", "", true},
		{"I made 4 calls. Gap: two are left", "two are left", true},
		{"I see a Gap: it is wide", "", false},
		{"nothing is said", "", false},
		{"the gapless Gap is wide: x", "", false},
		{"Gapped: x", "", false},
		{"", "", false},
	} {
		if got, named := work.GapOf(c.report); got != c.want || named != c.named {
			t.Errorf("%q: %q, %v; want %q, %v", c.report, got, named, c.want, c.named)
		}
	}
	key := secrettest.All()[0]
	if got, _ := work.GapOf("Gap: sign in with " + key.Text); strings.Contains(got, key.Text) {
		t.Errorf("a key is kept: %q", got)
	}
	if got, _ := work.GapOf("Gap: " + strings.Repeat("very much ", 10_000) + "\x1b[2J"); len(got) > 600 || strings.ContainsRune(got, '\x1b') {
		t.Errorf("%d bytes, %q", len(got), got[:40])
	}
}

func FuzzGapOf(f *testing.F) {
	f.Add("Gap: x\n- y")
	f.Add("**gap**: none")
	f.Fuzz(func(t *testing.T, report string) {
		gap, named := work.GapOf(report)
		if len(gap) > 600 || strings.ContainsAny(gap, "\n\x1b\x00") || gap != "" && !named {
			t.Errorf("%q of %q", gap, report)
		}
	})
}

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "one two\n\tthree": 3, "see\n```go\nfunc main() {}\n```\nthere": 2, "~~~\na b c\n```\nd\n~~~\nend": 1, "```\nnever ends": 0,
	} {
		if got := work.Words(text); got != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
}
