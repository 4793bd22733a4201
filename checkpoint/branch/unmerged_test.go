package branch_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestUnmerged lists the branches with commits of their own, whether they have a worktree or not, and none that is merged or
// has gone.
func TestUnmerged(t *testing.T) {
	r := newRepo(t)
	list := func(want ...string) {
		t.Helper()
		got, err := r.merger.Unmerged(t.Context(), r.dir)
		if names := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(names, want) {
			t.Errorf("%q, %v; want %q", names, err, want)
		}
	}
	list()
	if err := os.WriteFile(filepath.Join(r.side, "a"), []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.git("-C", r.side, "commit", "-q", "-am", "work")
	r.git("branch", "orchestrator/as-it-was")
	list("side")
	r.git("worktree", "remove", "--force", r.side)
	r.git("branch", "-m", "side", "orchestrator/x-0001")
	list("orchestrator/x-0001")
	r.git("merge", "-q", "orchestrator/x-0001")
	list()
	r.git("checkout", "-q", "--orphan", "empty")
	if got, err := r.merger.Unmerged(t.Context(), r.dir); err == nil {
		t.Errorf("without a commit: %v", got)
	}
}
