package branch_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestIndexIsSynced previews, commits and merges under strace: an index that takes the place of the one before is
// synced, or a power cut would leave an empty one.
func TestIndexIsSynced(t *testing.T) {
	if dir := os.Getenv("BRANCH_MERGE_IN"); dir != "" {
		mergeTraced(t, dir)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("NOT RUN: needs strace: apt-get install strace")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(top, "trace")
	cmd := exec.Command(strace, "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o", trace,
		os.Args[0], "-test.run=^TestIndexIsSynced$")
	cmd.Env = append(os.Environ(), "BRANCH_MERGE_IN="+top)
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("NOT RUN: strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	_, traced, found := strings.Cut(string(b), filepath.Join(top, "begin"))
	if !found {
		t.Fatal("the mark is missing")
	}
	renamed := 0
	for _, lock := range []string{filepath.Join(top, "project/.git/index.lock"),
		filepath.Join(top, "project/.git/worktrees/side/index.lock")} {
		synced := false
		for line := range strings.Lines(traced) {
			switch {
			case strings.Contains(line, "sync(") && strings.Contains(line, "<"+lock+">"):
				synced = true
			case strings.Contains(line, "rename") && strings.Contains(line, `"`+lock+`"`) &&
				strings.Contains(line, `"`+strings.TrimSuffix(lock, ".lock")+`"`):
				renamed++
				if !synced {
					t.Errorf("not synced before it was renamed: %s", line)
				}
				synced = false
			}
		}
	}
	if renamed == 0 {
		t.Errorf("no index was written:\n%s", traced)
	}
}

// mergeTraced does it below a folder.
func mergeTraced(t *testing.T, top string) {
	r := newRepoIn(t, top)
	r.writeIn(r.side, "a", "side\n")
	r.write("b", "mine\n")
	mark := filepath.Join(top, "begin")
	for _, err := range []error{os.WriteFile(mark+".new", nil, 0o600), os.Rename(mark+".new", mark)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	past := exec.Command("touch", "-d", "2 hours ago", filepath.Join(r.dir, "a")) // so that a refresh has to write
	if err := past.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.merger.Preview(context.Background(), r.dir, r.side); err != nil {
		t.Fatal(err)
	}
	r.commit(r.side, "side")
	if _, err := r.merger.Merge(context.Background(), r.dir, "side", "merge side"); err != nil {
		t.Fatal(err)
	}
}
