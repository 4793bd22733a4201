package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/recorded"
	"orchestrator/thread"
)

// Pieces reads a file with this text, and returns its pieces as words.
func Pieces(t *testing.T, a recorded.Reader, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for p, err := range a.Pieces(t.Context(), f) {
		s := fmt.Sprint(p.Kind, p.Bytes)
		switch {
		case err != nil:
			s = err.Error()
		case p.Own:
			s = "own " + s
		case p.Person:
			s = "person " + s
		}
		if r := p.Response; r != nil {
			s += fmt.Sprint(" ", r.Usage.Input, ">", r.Usage.Output)
		}
		if p.Images > 0 {
			s += " picture"
		}
		if p.Error {
			s += " failed"
		}
		out = append(out, s)
	}
	return strings.Join(out, "|")
}

// Responses reads lines of a session's file, and returns the responses in them as words.
func Responses(t *testing.T, a thread.UsageReader, file, text string) string {
	t.Helper()
	all, err := a.ReadUsage([]thread.Chunk{{File: file, Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		s := fmt.Sprint(e.Purpose, "[", e.Prompt, "] ", e.Text, " ", e.Tools, " ", e.Usage.Input, ">", e.Usage.Output)
		if e.Main {
			s = "main" + s
		}
		if e.EndsTurn {
			s += " ends"
		}
		if e.Interrupted {
			s += " interrupted"
		}
		out = append(out, s)
	}
	return strings.Join(out, "|")
}
