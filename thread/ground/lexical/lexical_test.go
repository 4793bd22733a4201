package lexical_test

import (
	"strings"
	"testing"

	"orchestrator/thread/ground/lexical"
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
		for _, w := range lexical.Split(text) {
			got = append(got, w.Text)
			if strings.ToLower(text[w.From:w.To]) != w.Text {
				t.Errorf("words(%q): %q is not at %d–%d", text, w.Text, w.From, w.To)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("words(%q) = %q, want %q", text, s, want)
		}
	}
}

// TestStem: what is no English word is its own stem.
func TestStem(t *testing.T) {
	for in, want := range map[string]string{
		"tests": "test", "tested": "test", "testing": "test", "s3": "s3", "größen": "größen", "": "",
	} {
		if got := lexical.Stem(in); got != want {
			t.Errorf("Stem(%q) = %q, want %q", in, got, want)
		}
	}
}
