package repositories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// gitIn runs git in a folder as the person does.
func gitIn(r *e2e.Rig, dir string, args ...string) {
	r.T.Helper()
	r.Git(append([]string{"-C", dir}, args...)...)
}

// doctor expects a text in what is said of the repository.
func doctor(r *e2e.Rig, text string, args ...string) {
	r.T.Helper()
	out := r.Ok(append(args, "doctor")...)
	if !strings.Contains(out, text) || !strings.Contains(out, "no file snapshots") {
		r.T.Errorf("the doctor does not say %q:\n%s", text, out)
	}
}

// TestGitVariablesOfTheCaller starts the program as a git alias or a hook of another repository does.
func TestGitVariablesOfTheCaller(t *testing.T) {
	t.Parallel()
	r, other := e2e.NewRig(t), e2e.NewRig(t)
	dot := filepath.Join(other.Project, ".git")
	plain := r.Env
	r.Env = append(r.Env[:len(r.Env):len(r.Env)], "GIT_DIR="+dot, "GIT_WORK_TREE="+other.Project, "GIT_INDEX_FILE="+filepath.Join(dot, "index"),
		"GIT_OBJECT_DIRECTORY="+filepath.Join(dot, "objects"), "GIT_PREFIX=x/", "LC_ALL=C.UTF-8")
	name := r.Demo("called by git")
	r.Turn(name, "write notes.txt: one")
	if got := r.Read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("notes.txt is %q", got)
	}
	fork := e2e.Get[thread.Status](r, "fork", "more", "-t", name)
	r.Turn(fork.Name, "run git add -A && git commit -qm forked")
	r.Ok("merge", "--no-tell", fork.Name)
	r.Env = plain
	if got := r.Git("log", "--format=%s", "-1", "orchestrator/"+fork.Name); got != "forked\n" {
		t.Errorf("the fork's branch stands at %q", got)
	}
	if dir := other.StateDir(); dir != "" {
		t.Errorf("the other repository was taken for the project: %s", dir)
	}
	if got := other.Git("log", "--all", "--format=%s") + other.Git("status", "--porcelain"); got != "begin\n" {
		t.Errorf("the other repository was touched: %q", got)
	}
}

// TestWorktreeOfBareRepository is the layout of those who keep all branches side by side.
func TestWorktreeOfBareRepository(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	container := filepath.Join(r.Home, "container")
	r.Git("clone", "-q", "--bare", r.Project, filepath.Join(container, ".git"))
	gitIn(r, container, "worktree", "add", "-q", "tree", "main")
	r.Ok("stop", "--force")
	r.Project = filepath.Join(container, "tree")
	t.Cleanup(func() { r.Run("stop", "--force") })
	name := r.Demo("here")
	r.Turn(name, "write notes.txt: one")
	if got := r.Read("notes.txt"); !strings.Contains(got, "one") {
		t.Errorf("notes.txt is %q", got)
	}
	fork := e2e.Get[thread.Status](r, "fork", "more", "-t", name)
	r.Turn(fork.Name, "write more.txt: two")
	if fork.Worktree.Path == "" {
		t.Fatalf("the fork has no files of its own: %+v", fork.Thread)
	}
	if got, err := os.ReadFile(filepath.Join(fork.Worktree.Path, "more.txt")); err != nil || !strings.Contains(string(got), "two") {
		t.Errorf("the fork's file: %q %v", got, err)
	}
	doctor(r, "bare", "--project", container)
}

// TestRepositoryThatGitRefuses: what is wrong with it is said, and not that there is none.
func TestRepositoryThatGitRefuses(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	file := filepath.Join(r.Project, ".git/config")
	if err := os.WriteFile(file, []byte("[core\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	doctor(r, "bad config line")
	name := r.Demo("all the same")
	r.Turn(name, "write notes.txt: one")
	if err := os.RemoveAll(filepath.Join(r.Project, ".git")); err != nil {
		t.Fatal(err)
	}
	r.Write(".git", "gitdir: /nowhere/at/all\n")
	doctor(r, "/nowhere/at/all")
}
