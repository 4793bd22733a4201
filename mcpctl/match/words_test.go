package match

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"Fix the e2e-tests!":           "fix the e2e tests",
		"loadPDFFile get_user-profile": "load pdf file get user profile",
		"PRs and URLs":                 "prs and urls",
		"HTTPServer iOS":               "http server i os",
		"S3 k8s":                       "s3 k8s",
		"Größe café\u0301s":            "größe café\u0301s",
		"读数据file 🙂 база":               "读 数 据 file база",
		"a\xffb":                       "a b",
	} {
		var got []string
		for _, w := range words(text) {
			got = append(got, w.text)
			if strings.ToLower(text[w.from:w.to]) != w.text {
				t.Errorf("words(%q): %q is not at %d–%d", text, w.text, w.from, w.to)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("words(%q) = %q, want %q", text, s, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, n := range []int{0, maxText - 1, maxText, maxText + 1, 3 * maxText} {
		for _, r := range []string{"a", "é", "界", "😀"} {
			text := clip(strings.Repeat(r, n/len(r)+1))
			if len(text) > maxText || !utf8.ValidString(text) {
				t.Errorf("%d of %s: %d bytes, valid %v", n, r, len(text), utf8.ValidString(text))
			}
		}
	}
	if text := clip(strings.Repeat("\x80", 2*maxText)); len(text) < maxText-utf8.UTFMax {
		t.Errorf("%d bytes of no text are left", len(text))
	}
}
