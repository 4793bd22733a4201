package main

import (
	"strings"
	"testing"
)

// TestSendFromStandardInput sends what standard input brings, and nothing that is empty or too long to be typed.
func TestSendFromStandardInput(t *testing.T) {
	r := newRig(t)
	name := r.ok("new", "-a", "demo", "reads")
	if got := r.said("say it is read\n"+strings.Repeat("words behind it ", 100), name); got.code != 0 || !strings.Contains(got.stdout, "it is read") {
		t.Errorf("%d %.200q %s", got.code, got.stdout, got.stderr)
	}
	if got := r.said(strings.Repeat("x", 1<<20+1), name); got.code == 0 || !strings.Contains(got.stderr, "put the text in a file") {
		t.Errorf("one that is too long: %+v", got)
	}
	if got := r.said(" \n", name); got.code == 0 || !strings.Contains(got.stderr, "empty") {
		t.Errorf("an empty one: %+v", got)
	}
}
