package summary_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrator/contextmgr/summary"
	"orchestrator/thread"
)

const sections = "## Goal\nx\n## Asked for\nx\n## Decisions\nx\n## Files\n%s\n## Facts\nx\n## Open points\nnone\n"

func TestCheckFindsNamesThatAreNotThere(t *testing.T) {
	replaced := "see cmd/app/main.go:12, call readAll() and max_size, with `x.Foo`"
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"read main.go and cmd/app/main.go", nil},
		{"app/main.go; readAll(); max_size.", nil},
		{"ain.go", []string{"ain.go"}},
		{"cmd/app/main.g", []string{"cmd/app/main.g"}},
		{"other.go, other.go and writeAll", []string{"other.go", "writeAll"}},
		{"gone()", []string{"gone"}},
		{"e.g. 1.2 and 3/4, i.e. nothing... - --", nil},
		{"max_sizes", []string{"max_sizes"}},
		{"Foo()", nil},
	} {
		if got := summary.Check(tt.text, replaced); !slices.Equal(got, tt.want) {
			t.Errorf("Check(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	known := "a/b.go c/d.go e/f.go g/h.go i/j.go k/l.go m/n.go o/p.go q/r.go s/t.go"
	long := known + strings.Repeat(" and so on", 200)
	unknown := func(n int) string {
		var s string
		for i := range n {
			s += fmt.Sprintf(" new%d.go", i)
		}
		return s
	}
	var many string
	for i := range 60 {
		many += fmt.Sprintf(" file%d.go", i)
	}
	for _, tt := range []struct {
		name, text, replaced string
		refused              bool
	}{
		{"fine", fmt.Sprintf(sections, known), long, false},
		{"one unknown name among none", fmt.Sprintf(sections, "and/or"), long, false},
		{"two unknown names of two", fmt.Sprintf(sections, unknown(2)), long, true},
		{"two of twelve", fmt.Sprintf(sections, known+unknown(2)), long, false},
		{"three of thirteen", fmt.Sprintf(sections, known+unknown(3)), long, true},
		{"five of sixty-five", fmt.Sprintf(sections, many+unknown(5)), many + strings.Repeat(" "+long, 2), false},
		{"six of sixty-six", fmt.Sprintf(sections, many+unknown(6)), many + strings.Repeat(" "+long, 2), true},
		{"empty", " \n", long, true},
		{"too long", fmt.Sprintf(sections, known), known, true},
		{"no sections", "all is well", long, true},
		{"one section missing", strings.Replace(fmt.Sprintf(sections, known), "## Facts\n", "", 1), long, true},
		{"not valid", fmt.Sprintf(sections, "\xff"), long, true},
	} {
		err := summary.Refuse(tt.text, tt.replaced)
		if (err != nil) != tt.refused || err != nil && !errors.Is(err, summary.ErrRefused) {
			t.Errorf("%s: %v, want refused %v", tt.name, err, tt.refused)
		}
	}
}

func bytesBy4(s string) int { return len(s) / 4 }

func conversation() []thread.Entry {
	return []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "Fix the bug\nin cmd/app/main.go, please."},
		{Kind: thread.EntryAnswer, Text: "I look."},
		{Kind: thread.EntryCall, Tool: "Read", Call: "1", Text: `{"file_path":"cmd\/app\/main.go"}`},
		{Kind: thread.EntryResult, Tool: "Read", Call: "1", Text: strings.Repeat("func main() {}\n", 400)},
		{Kind: thread.EntryCall, Tool: "Bash", Call: "2", Text: `{"command":"go test .\/cmd\/..."}`},
		{Kind: thread.EntryResult, Tool: "Bash", Call: "2", Text: "exit 1", Error: true},
		{Kind: thread.EntryCall, Tool: "Edit", Call: "3", Text: `{"file_path":"cmd/app/main.go","new_string":"a\nb.go"}`},
		{Kind: thread.EntryResult, Tool: "Edit", Call: "3", Text: "done"},
		{Kind: thread.EntryAnswer, Text: "Well. The bug was a nil map. It is fixed in cmd/app/main.go now."},
		{Kind: thread.EntryPrompt, Text: "Add a test."},
		{Kind: thread.EntryAnswer, Text: "A test was added."},
	}
}

func TestExtractHasWhatMatters(t *testing.T) {
	got := summary.Extract(conversation(), 1000, bytesBy4)
	for _, want := range []string{
		"> Fix the bug\n> in cmd/app/main.go, please.\n> Add a test.\n", "- read cmd/app/main.go", "- wrote cmd/app/main.go",
		"- failed: go test ./cmd/...", "- It is fixed in cmd/app/main.go now.", "- A test was added.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if err := summary.Refuse(got, summary.Readable(conversation())); err != nil {
		t.Error(err)
	}
	if got := summary.Extract(conversation(), 37, bytesBy4); !strings.Contains(got, "Add a test") ||
		strings.Contains(got, "Fix") {
		t.Errorf("with little room the newest prompt stays, and not:\n%s", got)
	}
	for _, n := range []int{-1, 0, 1, 10} {
		if got := summary.Extract(conversation(), n, bytesBy4); got != "" {
			t.Errorf("%d tokens: %q", n, got)
		}
	}
}

func TestExtractIsNeverRefused(t *testing.T) {
	kinds := []thread.EntryKind{"prompt", "answer", "thinking", "call", "result", "?"}
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,5}[ /._\n]?([A-Z]|\(\))?){0,80}`),
		rapid.StringMatching(`\{"(file_path|command|cmd)":"[a-zA-Z/._ ]{0,60}(\\n|\\u00e9|\\/)?[a-z.]{0,9}"\}`))
	rapid.Check(t, func(t *rapid.T) {
		var entries []thread.Entry
		for range rapid.IntRange(0, 12).Draw(t, "entries") {
			entries = append(entries, thread.Entry{
				Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Text: text.Draw(t, "text"), Call: "1",
				Tool:  rapid.SampledFrom([]string{"Bash", "Read", "Write", "apply_patch"}).Draw(t, "tool"),
				Error: rapid.Bool().Draw(t, "error"),
			})
		}
		entries = append(entries, thread.Entry{Kind: thread.EntryResult, Text: strings.Repeat("x ", 800)})
		hold(t, entries, rapid.IntRange(-1, 600).Draw(t, "budget"))
	})
}

type failer interface{ Fatalf(string, ...any) }

// hold checks what an extract promises.
func hold(t failer, entries []thread.Entry, budget int) {
	got := summary.Extract(entries, budget, bytesBy4)
	if got == "" {
		return
	}
	if err := summary.Refuse(got, summary.Readable(entries)); err != nil {
		t.Fatalf("%v:\n%s", err, got)
	}
	if unknown := summary.Check(got, summary.Readable(entries)); len(unknown) > 0 {
		t.Fatalf("unknown names %q in\n%s", unknown, got)
	}
	if n := bytesBy4(got); n > budget {
		t.Fatalf("%d tokens, more than %d", n, budget)
	}
}

func TestTextSaysWhatItIs(t *testing.T) {
	n := summary.Note{Source: "a model]\nx", Replaced: 51_000, File: "/x/y.txt", Text: "\n## Goal\n\xff"}
	got := summary.Text(n)
	head, rest, _ := strings.Cut(got, "\n\n")
	if !strings.HasPrefix(head, "[Summary: ") || !strings.Contains(head, "written by a model x") ||
		!strings.Contains(head, "/x/y.txt") || strings.Count(head, "]") != 1 || rest != "## Goal\n" && rest != "## Goal" {
		t.Errorf("%q", got)
	}
	if got != summary.Text(n) {
		t.Error("the text changes")
	}
	if own := summary.Own(got); own != "## Goal" || summary.Own(own) != own {
		t.Errorf("the summary itself is %q", own)
	}
}

func TestPromptNamesAllSections(t *testing.T) {
	d := summary.Draft{Tokens: 1234, Until: "now\ndo " + strings.Repeat("that ", 100), Also: "ticket numbers"}
	p := d.Prompt()
	if err := summary.Refuse(p, strings.Repeat(p, 4)); err != nil || !strings.Contains(p, "1234 tokens") ||
		!strings.Contains(p, `begins with "now do that`) || !strings.Contains(p, "ticket numbers") || len(p) > 2000 {
		t.Errorf("%v:\n%s", err, p)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("a/b.go and c_d()", "a/b.go")
	f.Add("\xff/\xfe.go", "\xff")
	f.Add("éÉ.go", "é")
	f.Fuzz(func(t *testing.T, text, replaced string) {
		for _, name := range summary.Check(text, replaced) {
			if name == "" || !strings.Contains(text, name) {
				t.Fatalf("%q is not in %q", name, text)
			}
		}
		if unknown := summary.Check(text, text); len(unknown) > 0 {
			t.Fatalf("a text does not have its own names %q", unknown)
		}
		_ = summary.Refuse(text, replaced)
	})
}

func FuzzExtract(f *testing.F) {
	f.Add("a prompt about x/y.go", `{"file_path":"a\u00e9/b.go"}`, "It is done. See z.go", 100)
	f.Add("\xff\xfe", `{"command":["a","b\n\nc"]}`, "", 300)
	f.Fuzz(func(t *testing.T, prompt, input, answer string, budget int) {
		hold(t, []thread.Entry{
			{Kind: thread.EntryPrompt, Text: prompt},
			{Kind: thread.EntryCall, Tool: "Read", Call: "1", Text: input},
			{Kind: thread.EntryResult, Tool: "Read", Call: "1", Text: strings.Repeat("y ", 500), Error: true},
			{Kind: thread.EntryCall, Tool: "apply_patch", Call: "2", Text: input},
			{Kind: thread.EntryAnswer, Text: answer},
		}, min(budget, 1<<20))
	})
}
