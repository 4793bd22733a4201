package branch_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLockIsSharedAsTheRepository: who may write the repository may merge next, and nobody else.
func TestLockIsSharedAsTheRepository(t *testing.T) {
	r := newRepo(t)
	for _, c := range []struct{ folder, want os.FileMode }{{0o755, 0o600}, {0o775, 0o660}, {0o777, 0o666},
		{0o700, 0o600}} {
		if err := os.Chmod(filepath.Join(r.dir, ".git"), c.folder); err != nil {
			t.Fatal(err)
		}
		r.repair()
		info, err := os.Stat(filepath.Join(r.dir, ".git/orchestrator-merge"))
		if err != nil || info.Mode().Perm() != c.want {
			t.Errorf("in a folder with %v: %v %v", c.folder, info.Mode(), err)
		}
	}
}
