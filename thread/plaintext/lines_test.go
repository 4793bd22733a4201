package plaintext_test

import (
	"testing"

	"orchestrator/thread/plaintext"
)

func TestLines(t *testing.T) {
	const text = "\n  first\n\n second \n\n"
	for what, got := range map[string][2]string{
		"first line":        {plaintext.FirstLine(text), "first"},
		"last line":         {plaintext.LastLine(text), "second"},
		"no line":           {plaintext.FirstLine(" \n") + plaintext.LastLine(" \n"), ""},
		"one line":          {plaintext.OneLine(text, 100), "first second"},
		"one line, cut":     {plaintext.OneLine(text, 7), "first s…"},
		"one of something":  {plaintext.Count(1, "file"), "1 file"},
		"many of something": {plaintext.Count(0, "file"), "0 files"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
}
