package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread/ground/atomicfile"
)

// TestAddIsSynced looks, with strace, whether what makes a worktree is synced before Add returns: git syncs none of it,
// and after a power cut the files would be empty.
func TestAddIsSynced(t *testing.T) {
	if dir := os.Getenv("SNAPSHOT_ADD_IN"); dir != "" {
		addTraced(t, dir)
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
	cmd := exec.Command(strace, "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync,syncfs,rename,renameat,renameat2", "-o",
		trace,
		os.Args[0], "-test.run=^TestAddIsSynced$")
	cmd.Env = append(os.Environ(), "SNAPSHOT_ADD_IN="+top)
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
	// What comes after the mark is not waited for by Add.
	done, _, found := strings.Cut(string(b), filepath.Join(top, "returned"))
	if !found {
		t.Fatalf("the mark is missing:\n%s", b)
	}
	part := filepath.Join(top, "project/.git/worktrees/fork")
	for _, file := range []string{
		filepath.Join(top, "trees/fork/.git"), filepath.Join(part, "HEAD"), filepath.Join(part, "commondir"),
		filepath.Join(part, "gitdir"), filepath.Join(part, "index"), part, filepath.Join(top, "trees/fork"),
		filepath.Join(top, "trees"),
		filepath.Join(top, "project/.git/refs/heads/orchestrator/fork.lock"),
		filepath.Join(top, "project/.git/refs/orchestrator/t2/1.lock"),
	} {
		if !strings.Contains(done, "<"+file+">") {
			t.Errorf("not synced: %s", file)
		}
	}
	// written whole, synced, then renamed
	for _, file := range []string{"orchestrator.json", "made.json"} { // below open folders
		if !strings.Contains(done, `, "`+file+`"`) {
			t.Errorf("not put in place: %s", file)
		}
	}
	if n := strings.Count(done, "/"+atomicfile.Begin); n < 2 {
		t.Errorf("%d of our small files are synced before they are put in place", n)
	}
}

func addTraced(t *testing.T, top string) {
	r := newRepo(t, top)
	r.Write("a", "a\n")
	r.CommitAll("first")
	r.Add("fork", r.Take(nil))
	if err := os.WriteFile(filepath.Join(top, "mark"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(top, "mark"), filepath.Join(top, "returned")); err != nil {
		t.Fatal(err)
	}
	if err := r.Store.Close(); err != nil {
		t.Fatal(err)
	}
}
