package thread

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTitled(t *testing.T) {
	for typed, want := range map[string]string{
		"修复 缓存 🚀":                             "修复 缓存 🚀",
		"  Größe\tändern\n":                   "Größe ändern",
		"إصلاح ذاكرة":                         "إصلاح ذاكرة",
		"\u202eevil\u2066 \u200bשלום\x1b[31m": "evil שלום[31m",
		"🚀":                               "🚀",
		"👩‍💻 work":                        "👩‍💻 work",
		"Try JWT!":                        "Try JWT!",
		"try jwt":                         "", // try-jwt-b7c1 says it
		"try-jwt":                         "",
		"":                                "",
		"--- !":                           "",
		"\u202e\u200b":                    "",
		"a\xff\xfeb ü":                    "ab ü",
		strings.Repeat("缓", 500):          strings.Repeat("缓", maxTitle-1) + "…",
		strings.Repeat("long words ", 50): strings.TrimSpace(strings.Repeat("long words ", 50)[:maxTitle-1]) + "…",
		"exactly what a slug of thirty-two letters": "exactly what a slug of thirty-two letters", // which cuts it
	} {
		got := Titled(typed)
		if got != want || !utf8.ValidString(got) {
			t.Errorf("%q is shown as %q, want %q", typed, got, want)
		}
	}
}

// TestCalled: a thread is called by all of its label, also where others begin with it.
func TestCalled(t *testing.T) {
	for _, c := range []struct {
		thread        Thread
		ref           string
		whole, begins bool
	}{
		{Thread{Name: "keep-ad55", Label: "keep"}, "keep", true, false},
		{Thread{Name: "keep-ad55"}, "keep", true, false},
		{Thread{Name: "keepb-ad55", Label: "keepb"}, "keep", false, false},
		{Thread{Name: "keep-b-ad55", Label: "Keep B"}, "keep", false, false},
		{Thread{Name: "keep-b-ad55", Label: "Keep B"}, "KEEP b", true, false},
		{Thread{Name: "x-ad55", Title: "Keep, please"}, "keep, please", true, true},
		{Thread{Name: "x-ad55", Title: "Keep, please"}, "keep", false, true},
		{Thread{Name: "ad55"}, "", false, false},
		{Thread{Name: "ad55"}, "ad55", true, false},
	} {
		if whole, begins := c.thread.Called(c.ref); whole != c.whole || begins != c.begins {
			t.Errorf("%+v by %q: %v, %v", c.thread, c.ref, whole, begins)
		}
	}
}

func TestTypedName(t *testing.T) {
	for want, in := range map[string]Thread{
		"docs":           {Name: "docs-f9a0", Label: "docs"},
		"Docs":           {Name: "docs-f9a1", Label: "Docs"},
		"日本語の索引":         {Name: "thread-0001", Title: "日本語の索引", Label: "日本語の索引"},
		"run migrations": {Name: "run-migrations-12ab", Label: "run migrations"},
		"renamed":        {Name: "renamed-12ab", Label: "another"},
		"two-cafés":      {Name: "two-cafés"},
		"demo":           {Name: "demo-c4ac", Label: ""},
		"no-hex-at-end":  {Name: "no-hex-at-end"},
	} {
		if got := in.TypedName(); got != want {
			t.Errorf("%+v: %q, want %q", in.Name, got, want)
		}
	}
}
