package deliverable_test

import (
	"context"
	"strings"
	"testing"
)

// TestFollows: a commit follows on what is in its history, whichever snapshots were taken on the two.
func TestFollows(t *testing.T) {
	p := newPlace(t, t.TempDir())
	p.Write("a.txt", "1\n")
	first := p.CommitAll("first")
	p.Write("a.txt", "2\n")
	early := p.Take(nil).Commit
	second := p.CommitAll("second")
	p.Write("a.txt", "3\n")
	late := p.Take(nil).Commit
	for _, c := range []struct {
		commit, other  string
		follows, known bool
	}{
		{late, early, true, true}, {second, first, true, true}, {late, late, true, true}, {late, second, true, true},
		{early, late, false, true}, {first, second, false, true}, {early, first, true, true},
		{first, strings.Repeat("a", 40), false, false}, {"", first, false, false}, {"--all", first, false, false},
	} {
		if follows, known := p.files.Follows(context.Background(), c.commit, c.other); follows != c.follows || known != c.known {
			t.Errorf("%.8s on %.8s: %v, %v", c.commit, c.other, follows, known)
		}
	}
}
