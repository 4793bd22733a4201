package plain

import "testing"

func TestExact(t *testing.T) {
	for in, want := range map[string]string{
		"npx -y  github-mcp":           "npx -y  github-mcp",
		"日本 é ❤":                       "日本 é ❤",
		"sh -c 'a\nb'":                 "sh -c 'a␊b'",
		"a\tb\rc\x1b[2J\x00":           "a␉b␍c␛[2J␀",
		"a\u202eb\u200bc\u00a0d\u2003": "a<U+202E>b<U+200B>c<U+00A0>d<U+2003>",
		"❤\ufe0f e\u0301 👍🏽":           "❤<U+FE0F> e<U+0301> 👍<U+1F3FD>",
		"\xff\ufffd":                   "<\\xFF>\ufffd",
		"a\u200dtail\U000e0041":        "a<U+200D>tail<U+E0041>",
		"\u3164x\u115f":                "<U+3164>x<U+115F>",
	} {
		got := Exact(in)
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := Line(got); again != got {
			t.Errorf("%q: Line changes it to %q", got, again)
		}
	}
}
