package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// newRigApart is newRig with the program's own default: threads do not share a folder.
func newRigApart(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.env = slices.DeleteFunc(r.env, func(kv string) bool { return kv == inPlace })
	return r
}

// TestNewThreadsWorkApart: the first thread works in the project's folder; the next gets a worktree of its own and
// says where, until the first is archived; what is asked for wins.
func TestNewThreadsWorkApart(t *testing.T) {
	t.Parallel()
	r := newRigApart(t)
	first := get[thread.Status](r, "new", "-a", "demo", "first")
	if first.Worktree.Path != "" || first.Dir != r.project {
		t.Errorf("the first works in %s", first.Dir)
	}
	res := r.run("new", "-a", "demo", "second")
	out, said := res.stdout, res.stderr
	name := strings.TrimSpace(out)
	if !strings.Contains(said, "worktrees/"+name) || !strings.Contains(said, "--no-worktree") {
		t.Errorf("it says %q", said)
	}
	second := r.status(name)
	if second.Worktree.Path == "" || second.Dir == r.project {
		t.Fatalf("the second works in %s too", second.Dir)
	}
	r.turn(name, "write apart.txt: one")
	if _, err := os.Stat(filepath.Join(r.project, "apart.txt")); err == nil {
		t.Error("what the second wrote lies in the first one's folder")
	}
	if _, err := os.Stat(filepath.Join(second.Dir, "apart.txt")); err != nil {
		t.Error(err)
	}
	in := get[thread.Status](r, "new", "-a", "demo", "--no-worktree", "third")
	if in.Dir != r.project {
		t.Errorf("one that is to work in the folder works in %s", in.Dir)
	}
	r.ok("archive", in.Name)
	r.ok("archive", first.Name)
	if next := get[thread.Status](r, "new", "-a", "demo", "fourth"); next.Dir != r.project {
		t.Errorf("with the folder free the next works in %s", next.Dir)
	}
	r.says(exitcode.Usage, []string{"worktree"}, "new", "-a", "demo", "--worktree", "--no-worktree", "fifth")
}

// TestNewThreadsShareWithoutACommit: a branch begins at a commit; where there is none, or no git, threads share.
func TestNewThreadsShareWithoutACommit(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(r *rig, dir string){
		"no commit": func(r *rig, dir string) { r.gitIn(dir, "init", "-q") },
		"no git":    func(*rig, string) {},
	} {
		r := newRigApart(t)
		dir := filepath.Join(r.home, "plain")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		make(r, dir)
		t.Cleanup(func() { r.run("--project", dir, "stop", "--force") })
		for range 2 {
			if s := get[thread.Status](r, "--project", dir, "new", "-a", "demo", "one"); s.Dir != dir || s.Worktree.Path != "" {
				t.Errorf("%s: a thread works in %s", name, s.Dir)
			}
		}
	}
}

// TestRewindInASharedFolder: two threads write in one folder. Setting one back leaves what the other wrote, and what
// both did; without a flag the files stay at all.
func TestRewindInASharedFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.demo("a"), r.demo("b")
	r.turn(a, "write a.txt: one")
	r.turn(a, "write both.txt: a")
	r.turn(b, "write b.txt: one")
	r.turn(b, "write both.txt: b")
	r.turn(a, "write later.txt: two")
	r.write("person.txt", "by hand")

	res := r.run("checkpoint", "restore", a, "1")
	if res.code != 0 || !strings.Contains(res.stderr, b) || !strings.Contains(res.stderr, "--files") {
		t.Fatalf("%+v", res)
	}
	if r.read("later.txt") == "" || r.read("both.txt") == "" {
		t.Error("files went back that share a folder")
	}
	r.ok("checkpoint", "restore", "--files", a, "1")
	for name, want := range map[string]string{"a.txt": "one", "both.txt": "b", "b.txt": "one", "person.txt": "by hand"} {
		if got := r.read(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if _, err := os.Stat(filepath.Join(r.project, "later.txt")); err == nil {
		t.Error("what the thread alone wrote is still there")
	}
}

// TestSharedFoldersAreNamed: the list, a diff and a merge say with whom a folder is shared.
func TestSharedFoldersAreNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.demo("a")
	r.turn(a, "write a.txt: one")
	if out := r.run("checkpoint", "diff", a).stderr + r.ok("threads"); strings.Contains(out, "SHARED") || strings.Contains(out, "shared") {
		t.Errorf("nobody else works there:\n%s", out)
	}
	b, c := r.demo("b"), r.demo("c")
	table := r.ok("threads")
	if !strings.Contains(table, "SHARED WITH") || !strings.Contains(table, b+" +1") {
		t.Errorf("the list:\n%s", table)
	}
	for _, line := range strings.Split(table, "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	for _, s := range get[[]listed](r, "threads") {
		if s.Name == a && !slices.Equal(s.SharedWith, []string{b, c}) {
			t.Errorf("%s is shared with %q", a, s.SharedWith)
		}
	}
	if res := r.run("checkpoint", "diff", a); !strings.Contains(res.stderr, "shared with "+b+", "+c) || strings.Contains(res.stdout, "shared") {
		t.Errorf("the diff: %q, %q", res.stdout, res.stderr)
	}
	fork := get[thread.Status](r, "fork", "apart", "-t", a)
	inside := get[thread.Status](r, "fork", "inside", "-t", fork.Name, "--no-worktree")
	r.turn(fork.Name, "write fork.txt: one")
	said := []string{"its folder is shared with " + inside.Name, "see the merged files: " + b + ", " + c}
	if out := r.ok("merge", fork.Name, "--dry-run"); !strings.Contains(out, said[0]) || !strings.Contains(out, said[1]) {
		t.Errorf("the merge:\n%s", out)
	}
	if res := r.run("run", "-a", "demo", "-w", "list files"); strings.Contains(res.stderr, "its own worktree") {
		t.Errorf("a worktree that was asked for is explained: %s", res.stderr)
	}
}

// TestRunSaysWhereItWorks as new does.
func TestRunSaysWhereItWorks(t *testing.T) {
	t.Parallel()
	r := newRigApart(t)
	r.demo("first")
	res := r.run("run", "-a", "demo", "list files")
	if res.code != exitcode.OK || !strings.Contains(res.stderr, "/worktrees/") || !strings.Contains(res.stderr, "--no-worktree") || strings.Contains(res.stdout, "worktree of its own") {
		t.Errorf("exit %d: %q, %q", res.code, res.stdout, res.stderr)
	}
	for _, form := range [][]string{{"--json"}, {"-o", "ndjson"}} {
		if res := r.run(append([]string{"run", "-a", "demo", "list files"}, form...)...); strings.Contains(res.stderr, "worktree") {
			t.Errorf("%v: %q", form, res.stderr)
		}
	}
}
