package thread_test

import (
	"testing"

	"orchestrator/thread"
)

func TestOpenURL(t *testing.T) {
	for base, want := range map[string][2]string{
		"http://127.0.0.1:1/t/abc":        {"http://127.0.0.1:1/t/-", "orchestrator-secret:abc"},
		"http://127.0.0.1:1/t/abc/@fm/v1": {"http://127.0.0.1:1/t/-/@fm/v1", "orchestrator-secret:abc"},
		"http://127.0.0.1:1/t/":           {"http://127.0.0.1:1/t/", ""},
		"https://example.com/v1":          {"https://example.com/v1", ""},
		"":                                {"", ""},
	} {
		if open, mark := thread.PublicURL(base); open != want[0] || mark != want[1] {
			t.Errorf("PublicURL(%q) = %q, %q", base, open, mark)
		}
	}
}

func TestCutSecret(t *testing.T) {
	for value, want := range map[string][2]string{
		"orchestrator-secret:abc":        {"abc", ""},
		"orchestrator-secret:abc;org-x":  {"abc", "org-x"},
		"orchestrator-secret:abc; a;b":   {"abc", "a;b"},
		"org-x":                          {"", "org-x"},
		"x orchestrator-secret:abc":      {"", "x orchestrator-secret:abc"},
		"orchestrator-secret:":           {"", ""},
		"Bearer orchestrator-secret:abc": {"", "Bearer orchestrator-secret:abc"},
	} {
		if secret, own, _ := thread.CutSecret(value); secret != want[0] || own != want[1] {
			t.Errorf("CutSecret(%q) = %q, %q", value, secret, own)
		}
	}
}
