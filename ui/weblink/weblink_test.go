package weblink

import (
	"net/url"
	"strings"
	"testing"
)

func TestTarget(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.com/a?b=c#d": "https://example.com/a?b=c#d", "http://h": "http://h", "HTTPS://Example.com": "https://Example.com",
		"http://[::1]:80/": "http://[::1]:80/", "https://a.b/x y": "https://a.b/x%20y", "https://a.b/日": "https://a.b/%E6%97%A5",
		"https://a.b/'\"": "https://a.b/%27%22", "": "", "file:///bin/sh": "", "javascript:alert(1)": "", "https:evil": "", "https://": "", "//a.b": "",
		"https://good.example@evil.test/": "", "https://gооd.example/": "", "https://a.b/\x1b]0;x\x07": "", "https://a b/": "",
		"https://a.b/" + strings.Repeat("x", 3000): "", "https://a.b%2f@c/": "", "https://a.b\\@c/": "", "vscode://file/x": "",
	} {
		if got := Target(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestMisleads(t *testing.T) {
	for _, tt := range []struct {
		text, target string
		want         bool
	}{
		{"the docs", "https://evil.test/", false}, {"https://good.example/login", "https://evil.test/x", true},
		{"https://good.example/login", "https://good.example/other", false}, {"good.example", "https://evil.test/", true},
		{"www.good.example", "https://good.example/", false}, {"GOOD.example", "https://good.example/", false},
		{"main.go", "https://git.test/blob/main.go", false}, {"see (https://good.example).", "https://evil.test/", true},
		{"https://evil.test@good.example/", "https://evil.test/", true}, {"v1.2.3", "https://a.b/", false}, {"3.14", "https://a.b/", false},
		{"http://good.example:80/", "http://good.example/", false}, {"https://good.example.evil.test", "https://good.example/", true},
		{"#123", "https://git.test/issues/123", false}, {"git.test/x", "https://git.test/x", false},
	} {
		if got := Misleads(tt.text, tt.target); got != tt.want {
			t.Errorf("%q to %q: %v", tt.text, tt.target, got)
		}
	}
}

func TestIn(t *testing.T) {
	text := "see https://a.example/x(y)?z=1, (http://b.example/q). httpd https://c.example end"
	for at, want := range map[int]string{
		0: "", 4: "https://a.example/x(y)?z=1", 29: "https://a.example/x(y)?z=1", 30: "", 33: "http://b.example/q", 51: "", 55: "",
		strings.Index(text, "c.ex"): "https://c.example", len(text) - 1: "",
	} {
		if got := In(text, at); got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
}

// FuzzTarget: what may be followed leads to a page, and to the same one when it is read again.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"https://a.b/'\"", "http://[::1]/%zz", "https://a.b/\x1b\\", "https://a@b", "https://ü.de"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, s, text string) {
		to := Target(s)
		Misleads(text, s)
		for i := range min(len(text), 50) {
			if a := In(text, i); a != "" && Target(a) == "" {
				t.Fatalf("%q has %q", text, a)
			}
		}
		if to == "" {
			return
		}
		u, err := url.Parse(to)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Hostname() == "" || !ascii(to) || strings.ContainsAny(to, "\"'<>`") {
			t.Fatalf("%q may be followed as %q", s, to)
		}
		if again := Target(to); again != to {
			t.Fatalf("%q, then %q", to, again)
		}
	})
}
