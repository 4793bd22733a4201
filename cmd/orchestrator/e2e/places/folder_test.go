package places

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestNewThreadsWorkApart: the first thread works in the project's folder; the next gets a worktree of its own and
// says where, until the first is archived; what is asked for wins.
func TestNewThreadsWorkApart(t *testing.T) {
	t.Parallel()
	r := e2e.NewRigApart(t)
	first := e2e.Get[thread.Status](r, "new", "-a", "demo", "first")
	if first.Worktree.Path != "" || first.Dir != r.Project {
		t.Errorf("the first works in %s", first.Dir)
	}
	res := r.Run("new", "-a", "demo", "second")
	out, said := res.Stdout, res.Stderr
	name := strings.TrimSpace(out)
	if !strings.Contains(said, "own worktree") || !strings.Contains(said, "--no-worktree") {
		t.Errorf("it says %q", said)
	}
	second := r.Status(name)
	if second.Worktree.Path == "" || second.Dir == r.Project {
		t.Fatalf("the second works in %s too", second.Dir)
	}
	r.Turn(name, "write apart.txt: one")
	if _, err := os.Stat(filepath.Join(r.Project, "apart.txt")); err == nil {
		t.Error("what the second wrote lies in the first one's folder")
	}
	if _, err := os.Stat(filepath.Join(second.Dir, "apart.txt")); err != nil {
		t.Error(err)
	}
	in := e2e.Get[thread.Status](r, "new", "-a", "demo", "--no-worktree", "third")
	if in.Dir != r.Project {
		t.Errorf("one that is to work in the folder works in %s", in.Dir)
	}
	r.Ok("archive", in.Name)
	r.Ok("archive", first.Name)
	if next := e2e.Get[thread.Status](r, "new", "-a", "demo", "fourth"); next.Dir != r.Project {
		t.Errorf("with the folder free the next works in %s", next.Dir)
	}
	r.Says(exitcode.Usage, []string{"worktree"}, "new", "-a", "demo", "--worktree", "--no-worktree", "fifth")
}

// TestNewThreadsShareWithoutACommit: a branch begins at a commit; where there is none, or no git, threads share.
func TestNewThreadsShareWithoutACommit(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(r *e2e.Rig, dir string){
		"no commit": func(r *e2e.Rig, dir string) { r.Git("-C", dir, "init", "-q") },
		"no git":    func(*e2e.Rig, string) {},
	} {
		r := e2e.NewRigApart(t)
		dir := filepath.Join(r.Home, "plain")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		make(r, dir)
		t.Cleanup(func() { r.Run("--project", dir, "stop", "--force") })
		for range 2 {
			if s := e2e.Get[thread.Status](r, "--project", dir, "new", "-a", "demo", "one"); s.Dir != dir || s.Worktree.Path != "" {
				t.Errorf("%s: a thread works in %s", name, s.Dir)
			}
		}
	}
}

// TestRewindInASharedFolder: two threads write in one folder. Setting one back leaves what the other wrote, and what
// both did; without a flag the files stay at all.
func TestRewindInASharedFolder(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	a, b := r.Demo("a"), r.Demo("b")
	r.Turn(a, "write a.txt: one")
	r.Turn(a, "write both.txt: a")
	r.Turn(b, "write b.txt: one")
	r.Turn(b, "write both.txt: b")
	r.Turn(a, "write later.txt: two")
	r.Write("person.txt", "by hand")

	res := r.Run("checkpoint", "restore", a, "1")
	if res.Code != 0 || !strings.Contains(res.Stderr, b) || !strings.Contains(res.Stderr, "--files") {
		t.Fatalf("%+v", res)
	}
	if r.Read("later.txt") == "" || r.Read("both.txt") == "" {
		t.Error("files went back that share a folder")
	}
	r.Ok("checkpoint", "restore", "--files", a, "1")
	for name, want := range map[string]string{"a.txt": "one", "both.txt": "b", "b.txt": "one", "person.txt": "by hand"} {
		if got := r.Read(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(r.Project, "later.txt")); err == nil {
		t.Error("what the thread alone wrote is still there")
	}
}

// TestSharedFoldersAreNamed: the list, a diff and a merge say with whom a folder is shared.
func TestSharedFoldersAreNamed(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	a := r.Demo("a")
	r.Turn(a, "write a.txt: one")
	if out := r.Run("checkpoint", "diff", a).Stderr + r.Ok("threads"); strings.Contains(out, "SHARED") || strings.Contains(out, "shared") {
		t.Errorf("nobody else works there:\n%s", out)
	}
	b, c := r.Demo("b"), r.Demo("c")
	table := r.Ok("threads")
	if !strings.Contains(table, "SHARED WITH") || !strings.Contains(table, b+" +1") {
		t.Errorf("the list:\n%s", table)
	}
	for _, line := range strings.Split(table, "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	for _, s := range e2e.Get[[]e2e.Listed](r, "threads") {
		if s.Name == a && !slices.Equal(s.SharedWith, []string{b, c}) {
			t.Errorf("%s is shared with %q", a, s.SharedWith)
		}
	}
	if res := r.Run("checkpoint", "diff", a); !strings.Contains(res.Stderr, "shared with "+b+", "+c) || strings.Contains(res.Stdout, "shared") {
		t.Errorf("the diff: %q, %q", res.Stdout, res.Stderr)
	}
	fork := e2e.Get[thread.Status](r, "fork", "apart", "-t", a)
	inside := e2e.Get[thread.Status](r, "fork", "inside", "-t", fork.Name, "--no-worktree")
	r.Turn(fork.Name, "write fork.txt: one")
	said := []string{"its folder is shared with " + inside.Name, "see the merged files: " + b + ", " + c}
	if out := r.Ok("merge", fork.Name, "--dry-run"); !strings.Contains(out, said[0]) || !strings.Contains(out, said[1]) {
		t.Errorf("the merge:\n%s", out)
	}
	if res := r.Run("run", "-a", "demo", "-w", "list files"); strings.Contains(res.Stderr, "own worktree") {
		t.Errorf("a worktree that was asked for is explained: %s", res.Stderr)
	}
}

// TestRunSaysWhereItWorks as new does.
func TestRunSaysWhereItWorks(t *testing.T) {
	t.Parallel()
	r := e2e.NewRigApart(t)
	r.Demo("first")
	res := r.Run("run", "-a", "demo", "list files")
	if res.Code != exitcode.OK || !strings.Contains(res.Stderr, "own worktree") || !strings.Contains(res.Stderr, "--no-worktree") || strings.Contains(res.Stdout, "worktree of its own") {
		t.Errorf("exit %d: %q, %q", res.Code, res.Stdout, res.Stderr)
	}
	for _, form := range [][]string{{"--json"}, {"-o", "ndjson"}} {
		if res := r.Run(append([]string{"run", "-a", "demo", "list files"}, form...)...); strings.Contains(res.Stderr, "worktree") {
			t.Errorf("%v: %q", form, res.Stderr)
		}
	}
}
