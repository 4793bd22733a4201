package rewind

import (
	"testing"

	"orchestrator/thread"
)

func TestCountsAreGrammar(t *testing.T) {
	for _, c := range []struct {
		files []thread.FileDiff
		want  string
	}{
		{[]thread.FileDiff{{Insertions: 1}}, "1 file, 1 line added since leaves"},
		{[]thread.FileDiff{{Insertions: 2}, {Deletions: 2}}, "2 files, 2 lines added since leave, 2 lines removed since come back"},
	} {
		if got := counts(c.files); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
