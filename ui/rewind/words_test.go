package rewind

import (
	"testing"

	"orchestrator/thread"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		files []thread.FileDiff
		want  string
	}{
		{[]thread.FileDiff{{Insertions: 1}}, "1 reverted (+1 −0)"},
		{[]thread.FileDiff{{Insertions: 2}, {Deletions: 2}}, "2 reverted (+2 −2)"},
	} {
		if got := counts(c.files); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
