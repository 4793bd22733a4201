package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// gitIn runs git in a folder as the person does.
func (r *rig) gitIn(dir string, args ...string) {
	r.t.Helper()
	r.git(append([]string{"-C", dir}, args...)...)
}

// doctor expects a text in what is said of the repository.
func (r *rig) doctor(text string, args ...string) {
	r.t.Helper()
	out := r.ok(append(args, "doctor")...)
	if !strings.Contains(out, text) || !strings.Contains(out, "no file snapshots") {
		r.t.Errorf("the doctor does not say %q:\n%s", text, out)
	}
}

// TestGitVariablesOfTheCaller starts the program as a git alias or a hook of another repository does.
func TestGitVariablesOfTheCaller(t *testing.T) {
	t.Parallel()
	r, other := newRig(t), newRig(t)
	dot := filepath.Join(other.project, ".git")
	plain := r.env
	r.env = append(r.env[:len(r.env):len(r.env)], "GIT_DIR="+dot, "GIT_WORK_TREE="+other.project, "GIT_INDEX_FILE="+filepath.Join(dot, "index"),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(dot, "objects"), "GIT_PREFIX=x/", "LC_ALL=C.UTF-8")
	name := r.demo("called by git")
	r.turn(name, "write notes.txt: one")
	if got := r.read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("notes.txt is %q", got)
	}
	fork := get[thread.Status](r, "fork", "more", "-t", name)
	r.turn(fork.Name, "run git add -A && git commit -qm forked")
	r.ok("merge", "--no-tell", fork.Name)
	r.env = plain
	if got := r.git("log", "--format=%s", "-1", "orchestrator/"+fork.Name); got != "forked\n" {
		t.Errorf("the fork's branch stands at %q", got)
	}
	if dir := other.stateDir(); dir != "" {
		t.Errorf("the other repository was taken for the project: %s", dir)
	}
	if got := other.git("log", "--all", "--format=%s") + other.git("status", "--porcelain"); got != "begin\n" {
		t.Errorf("the other repository was touched: %q", got)
	}
}

// TestWorktreeOfBareRepository is the layout of those who keep all branches side by side.
func TestWorktreeOfBareRepository(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	container := filepath.Join(r.home, "container")
	r.git("clone", "-q", "--bare", r.project, filepath.Join(container, ".git"))
	r.gitIn(container, "worktree", "add", "-q", "tree", "main")
	r.ok("stop", "--force")
	r.project = filepath.Join(container, "tree")
	t.Cleanup(func() { r.run("stop", "--force") })
	name := r.demo("here")
	r.turn(name, "write notes.txt: one")
	if got := r.read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("notes.txt is %q", got)
	}
	fork := get[thread.Status](r, "fork", "more", "-t", name)
	r.turn(fork.Name, "write more.txt: two")
	if fork.Worktree.Path == "" {
		t.Fatalf("the fork has no files of its own: %+v", fork.Thread)
	}
	if got, err := os.ReadFile(filepath.Join(fork.Worktree.Path, "more.txt")); err != nil || !strings.Contains(string(got), "two") {
		t.Errorf("the fork's file: %q %v", got, err)
	}
	r.doctor("bare", "--project", container)
}

// TestRepositoryThatGitRefuses: what is wrong with it is said, and not that there is none.
func TestRepositoryThatGitRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	file := filepath.Join(r.project, ".git/config")
	if err := os.WriteFile(file, []byte("[core\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.doctor("bad config line")
	name := r.demo("all the same")
	r.turn(name, "write notes.txt: one")
	if err := os.RemoveAll(filepath.Join(r.project, ".git")); err != nil {
		t.Fatal(err)
	}
	r.write(".git", "gitdir: /nowhere/at/all\n")
	r.doctor("/nowhere/at/all")
}
