package bundle_test

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/bundle"
)

func TestSections(t *testing.T) {
	const text = "---\ntitle: x\n---\nintro\n\n# One\n\na\n\n## Sub #\n\nb\n\n```md\n# not one\n```\n\n    # code\n\n# Two\nc\n" +
		"\nSet ext\n===\n\nd\n\nmore\nlines\n---\n\ne\n\n<!--\n# hidden\n-->\n- item\n---\n\n| a | b |\n---\n~~~~\n~~~\n# in\n~~~~\n####### seven\n#no\n### `Code` *it*\nz"
	var got []string
	for _, h := range bundle.Headings(text) {
		got = append(got, h.Title)
	}
	if want := "One|Sub|Two|Set ext|more lines|`Code` *it*"; strings.Join(got, "|") != want {
		t.Fatalf("headings %q, want %q", strings.Join(got, "|"), want)
	}
	for _, tc := range []struct {
		titles []string
		want   string
	}{
		{[]string{"Sub"}, "## Sub #\n\nb\n\n```md\n# not one\n```\n\n    # code\n\n"},
		{[]string{"Two"}, "# Two\nc\n\n"},
		{[]string{"Two", "Sub"}, "## Sub #\n\nb\n\n```md\n# not one\n```\n\n    # code\n\n# Two\nc\n\n"},
		{[]string{"One", "Sub"}, "# One\n\na\n\n## Sub #\n\nb\n\n```md\n# not one\n```\n\n    # code\n\n"},
		{[]string{"code IT"}, "### `Code` *it*\nz\n"},
		{[]string{"One > Sub"}, "## Sub #\n\nb\n\n```md\n# not one\n```\n\n    # code\n\n"},
	} {
		if got, err := bundle.Sections("x.md", text, tc.titles); err != nil || got != tc.want {
			t.Errorf("%q: %v\n%q\n%q", tc.titles, err, got, tc.want)
		}
	}
}

func TestSectionErrorsSayWhatThereIs(t *testing.T) {
	const text = "# A\n## Install\n### Linux\n# B\n## Install\n### Linux\n"
	for _, tc := range []struct{ title, says string }{
		{"Install", "occurs 2 times, in the lines 2, 5"}, {"install", "in the lines 2, 5"}, {"Instal", `There are "A", "Install", "Linux", "B"`},
		{"C > Install", "no heading"}, {"Install > Linux", "in the lines 3, 6"},
	} {
		_, err := bundle.Sections("x.md", text, []string{tc.title})
		if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), tc.says) || !strings.HasPrefix(err.Error(), "x.md: ") {
			t.Errorf("%s: %v", tc.title, err)
		}
	}
	if got, err := bundle.Sections("x.md", text, []string{"B > Install > Linux"}); err != nil || got != "### Linux\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := bundle.Sections("x.md", text, []string{"B > Linux"}); err != nil || got != "### Linux\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := bundle.Sections("x.go", "package x\n", []string{"B"}); err == nil || !strings.Contains(err.Error(), "no headings") {
		t.Error(err)
	}
}

// TestManyHeadings: a file that consists of headings costs no more than one that is as long.
func TestManyHeadings(t *testing.T) {
	text := strings.Repeat("# A\n## x\n", 50_000)
	if n := len(bundle.Headings(text)); n != 100_000 {
		t.Errorf("%d headings", n)
	}
	_, err := bundle.Sections("x.md", text, []string{"B > x"})
	if _, twice := bundle.Sections("x.md", text, []string{"A > x"}); err == nil || twice == nil || len(twice.Error()) > 400 {
		t.Errorf("%v, %.500v", err, twice)
	}
}

// FuzzSections: whatever a file holds, its headings lie in it in their order, and what is taken is of it.
func FuzzSections(f *testing.F) {
	for _, seed := range []string{"# A\nb\n## C\n", "a\n===\n```\n# x\n", "---\nx\n---\n# y", "\xff\n# \x00\n", "<!--\n# a", "# A > B\n# B\n"} {
		f.Add(seed, "A")
	}
	f.Fuzz(func(t *testing.T, text, title string) {
		last := -1
		all := bundle.Headings(text)
		for _, h := range all {
			if h.Start <= last || h.End <= h.Start || h.End > len(text) || h.Level < 1 || h.Level > 6 || h.Line < 1 {
				t.Fatalf("%+v", h)
			}
			last = h.Start
		}
		got, err := bundle.Sections("x", text, []string{title})
		if err == nil && !strings.Contains(text+"\n", got) {
			t.Errorf("%q is not of the text", got)
		}
		if err != nil && !errors.Is(err, thread.ErrInvalid) {
			t.Error(err)
		}
	})
}
