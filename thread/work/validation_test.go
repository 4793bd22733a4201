package work_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/thread/work"
)

func TestParseValidation(t *testing.T) {
	v, err := work.ParseValidation(" format:pass, lint:FAIL,types:skip,tests:passed,coverage:85.5% ,")
	if err != nil || v.Format != work.Pass || v.Lint != work.Fail || v.Types != work.Skipped || v.Tests != work.Pass || *v.Coverage != 85.5 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, text := range []string{"", ",", "format", "format:", "format:good", "speed:pass", "coverage:pass", "coverage:101", "coverage:-1", "coverage:NaN",
		"format:pass,format:fail", "format=pass", "pass:format", strings.Repeat("format:pass,", 2)} {
		if v, err := work.ParseValidation(text); err == nil {
			t.Errorf("%q is %+v", text, v)
		}
	}
}

// TestCompared: a claim that a check denies stands beside what the check said.
func TestCompared(t *testing.T) {
	claimed, err := work.ParseValidation("format:pass,lint:pass,tests:pass,coverage:85")
	if err != nil {
		t.Fatal(err)
	}
	low := 41.25
	checked := work.Validation{Format: work.Pass, Tests: work.Fail, Types: work.Skipped, Coverage: &low}
	lines, denied := work.Compared(&claimed, &checked)
	want := []string{"format: pass (claimed and checked)", "lint: pass (claimed)", "types: skipped (checked)",
		"tests: pass (claimed), fail (checked)", "coverage: 85% (claimed), 41.25% (checked)"}
	if !slices.Equal(lines, want) || denied != 2 {
		t.Errorf("%d denied: %q", denied, lines)
	}
	if lines, denied := work.Compared(nil, nil); len(lines)+denied > 0 {
		t.Errorf("%q", lines)
	}
	both := work.Validation{Tests: work.Pass}.Over(checked)
	if both.Tests != work.Pass || both.Format != work.Pass || *both.Coverage != low || checked.Tests != work.Fail {
		t.Errorf("%+v", both)
	}
}

// FuzzValidation: what is read says the same once it is written and read again; what is refused says so in UTF-8.
func FuzzValidation(f *testing.F) {
	for _, s := range []string{"format:pass,lint:pass,types:pass,tests:pass", "coverage:1e1", "tests:fail,", "\xff:\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := work.ParseValidation(text)
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Errorf("%q", err)
			}
			return
		}
		var out []string
		for _, name := range work.CheckNames() {
			if is := v.Says(name); is != "" {
				out = append(out, name+":"+is)
			}
		}
		again, err := work.ParseValidation(strings.Join(out, ","))
		if lines, denied := work.Compared(&v, &again); err != nil || denied > 0 || len(lines) != len(out) {
			t.Errorf("%q becomes %q: %v, %q", text, out, err, lines)
		}
	})
}
