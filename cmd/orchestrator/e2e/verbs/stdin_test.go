package verbs

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestSendFromStandardInput sends what standard input brings, and nothing that is empty or too long to be typed.
func TestSendFromStandardInput(t *testing.T) {
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "reads")
	if got := r.Said("say it is read\n"+strings.Repeat("words behind it ", 100), name); got.Code != 0 || !strings.Contains(got.Stdout, "it is read") {
		t.Errorf("%d %.200q %s", got.Code, got.Stdout, got.Stderr)
	}
	if got := r.Said(strings.Repeat("x", 1<<20+1), name); got.Code == 0 || !strings.Contains(got.Stderr, "Put the text in a file") {
		t.Errorf("one that is too long: %+v", got)
	}
	if got := r.Said(" \n", name); got.Code == 0 || !strings.Contains(got.Stderr, "empty") {
		t.Errorf("an empty one: %+v", got)
	}
}
