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
		{[]thread.FileDiff{{Insertions: 1}}, "1 changes (+1 −0 reverted)"},
		{[]thread.FileDiff{{Insertions: 2}, {Deletions: 2}}, "2 change (+2 −2 reverted)"},
	} {
		if got := counts(c.files); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
