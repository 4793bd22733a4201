package work

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
)

func words(s string) []string { return strings.Fields(s) }

func TestNumbered(t *testing.T) {
	for n, want := range map[int64]string{1: "exec-001", 42: "exec-042", 999: "exec-999", 1000: "exec-1000", 123456: "exec-123456"} {
		if got := Numbered(n); got != want {
			t.Errorf("%d is %q", n, got)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "7", "review-auth_2.b", "exec", "exec-", "exec-1a", "my-exec-001", strings.Repeat("x", 64),
		"0123456789abcdeg", "0123456789abcde", "Review"} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, says := range map[string]string{
		"":                      "empty",
		strings.Repeat("x", 65): "65 characters",
		"a b":                   "letters, digits",
		"a/b":                   "letters, digits",
		"\x1b[31m":              "letters, digits",
		"gr\u00fcn":             "letters, digits",
		"a\x00":                 "letters, digits",
		"-a":                    "begin with",
		".a":                    "begin with",
		"_a":                    "begin with",
		"exec-001":              "given by the project",
		"EXEC-7":                "given by the project",
		"0123456789abcdef":      "16 hex digits",
		"0123456789ABCDEF":      "16 hex digits",
	} {
		err := CheckName(name)
		if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), ". Choose another") {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q: %q", name, err)
		}
	}
	if err := CheckName(strings.Repeat("x", 1<<20)); len(err.Error()) > 8<<10 {
		t.Errorf("%d bytes of an error", len(err.Error()))
	}
}
