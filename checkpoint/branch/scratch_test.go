package branch_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/checkpoint/branch"
)

// temp is the repository's temporary folder.
func (r *repo) temp() string {
	r.Helper()
	for _, kv := range r.env {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok {
			return dir
		}
	}
	r.Fatal("no TMPDIR")
	return ""
}

// scratch lists the scratch folders in the repository's temporary folder.
func (r *repo) scratch() []string {
	r.Helper()
	found, err := filepath.Glob(filepath.Join(r.temp(), "orchestrator-*"))
	if err != nil {
		r.Fatal(err)
	}
	return found
}

// TestSweep: what nobody uses of our scratch folders goes at the next start and the next merge, and nothing else does.
func TestSweep(t *testing.T) {
	r := newRepo(t)
	r.writeIn(r.side, "a", "of the side\n")
	r.commit(r.side, "work")
	temp := r.temp()
	const left, used, open, link, file, other = "orchestrator-trial-1", "orchestrator-trial-2", "orchestrator-trial-3",
		"orchestrator-trial-4", "orchestrator-trial-5", "trial-6"
	fill := func() {
		for _, name := range []string{left, used, open, other} {
			if err := os.MkdirAll(filepath.Join(temp, name), 0o700); err != nil {
				t.Fatal(err)
			}
			r.writeIn(filepath.Join(temp, name), "files-1/secret", "content\n")
		}
	}
	fill()
	if err := os.Chmod(filepath.Join(temp, open), 0o755); err != nil {
		t.Fatal(err)
	}
	r.writeIn(temp, file, "mine")
	if err := os.Symlink(filepath.Join(temp, other), filepath.Join(temp, link)); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(filepath.Join(temp, used))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for _, name := range []string{used, open, link, file, other} {
			if _, err := os.Stat(filepath.Join(temp, name)); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(temp, left)); err == nil {
			t.Errorf("%s: what a dead process left is there", when)
		}
		if r.read(filepath.Join(temp, other), "files-1/secret") != "content\n" {
			t.Errorf("%s: went through a link", when)
		}
	}
	if _, err := branch.New(branch.Config{State: r.views, Env: r.env}); err != nil {
		t.Fatal(err)
	}
	check("at a start")
	fill()
	if _, err := r.merger.Merge(t.Context(), r.dir, "side", "m"); err != nil {
		t.Fatal(err)
	}
	check("at a merge")
	if got := len(r.scratch()); got != 4 {
		t.Errorf("%d scratch folders", got)
	}
}
