package branch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestCommit(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	first := r.gitIn(r.side, "rev-parse", "HEAD")
	if c := r.commit(r.side, "nothing"); c != first {
		t.Errorf("committed nothing as %s", c)
	}
	r.writeIn(r.side, "a", "1\n2\n3\n4\n")
	r.writeIn(r.side, "new/file", "n\n")
	r.writeIn(r.side, "x.env", "SECRET\n")
	if err := os.Remove(filepath.Join(r.side, "b")); err != nil {
		t.Fatal(err)
	}
	r.writeIn(r.side, "b/now a folder", "x\n")
	r.gitIn(r.side, "init", "-q", "nested")
	r.writeIn(filepath.Join(r.side, "nested"), "inner", "x")
	c := r.commit(r.side, "#1: subject\n\n-body; $(touch x)\n# kept\n")
	if got := r.git("show", "-s", "--format=%B%an <%ae>", c); got !=
		"#1: subject\n\n-body; $(touch x)\n# kept\nA Person <person@example.org>" {
		t.Errorf("commit reads %q", got)
	}
	if got := r.git("show", "--name-status", "--format=", "--no-renames", c); got !=
		"M\ta\nD\tb\nA\tb/now a folder\nA\tnew/file" {
		t.Errorf("commit holds:\n%s", got)
	}
	if got := r.git("reflog", "show", "side", "--format=%gs", "-1"); got != "commit: #1: subject" {
		t.Errorf("reflog %q", got)
	}
	for _, message := range []string{"", " \n", "a\x00b", strings.Repeat("x", 1<<20)} {
		if _, err := r.merger.Commit(ctx, r.side, message); !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%.10q: %v", message, err)
		}
	}
}

// TestCommitKeepsSubmodules: one that is not checked out, or not even there, is not deleted.
func TestCommitKeepsSubmodules(t *testing.T) {
	r := newRepo(t)
	r.gitIn(r.side, "update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",lib")
	r.gitIn(r.side, "commit", "-q", "-m", "a submodule")
	r.writeIn(r.side, "a", "side\n")
	if got := r.git("show", "--name-status", "--format=", r.commit(r.side, "work")); got != "M\ta" {
		t.Errorf("commit holds:\n%s", got)
	}
}

func TestCommitOnUnborn(t *testing.T) {
	r := newRepo(t)
	dir := filepath.Join(r.top, "fresh")
	r.git("init", "-q", "-b", "main", dir)
	if c := r.commit(dir, "nothing"); c != "" {
		t.Errorf("commit %q of nothing", c)
	}
	r.writeIn(dir, "a", "a")
	c := r.commit(dir, "first")
	if c == "" || c != r.gitIn(dir, "rev-parse", "main") {
		t.Errorf("commit %q", c)
	}
}

func TestCommitNeedsIdentity(t *testing.T) {
	r := newRepo(t)
	r.git("config", "--global", "--unset", "user.email")
	r.writeIn(r.side, "a", "x")
	_, err := r.merger.Commit(context.Background(), r.side, "m")
	if err == nil || !strings.Contains(err.Error(), "git config --global user.name") {
		t.Errorf("err = %v", err)
	}
	if s := r.gitIn(r.side, "diff", "--cached", "--name-only"); s != "" {
		t.Errorf("staged: %s", s)
	}
}

// TestCommitLeavesForeign: a folder .orchestrator at the root is never committed by us, be it new, tracked and changed,
// deleted, or staged by somebody; what somebody has committed of it stays.
func TestCommitLeavesForeign(t *testing.T) {
	r := newRepo(t)
	r.writeIn(r.side, ".orchestrator/tracked", "1\n")
	r.writeIn(r.side, ".orchestrator/gone", "1\n")
	r.writeIn(r.side, ".orchestrator/changed", "1\n")
	r.gitIn(r.side, "add", "-f", ".orchestrator")
	r.gitIn(r.side, "commit", "-q", "-m", "the person's own")
	first := r.gitIn(r.side, "rev-parse", "HEAD")
	r.writeIn(r.side, ".orchestrator/tracked", "2\n")
	r.writeIn(r.side, ".orchestrator/changed", "not staged by anybody\n")
	r.writeIn(r.side, ".orchestrator/state.db", "conversations\n")
	r.writeIn(r.side, ".orchestrator/staged", "s\n")
	r.writeIn(r.side, ".Orchestrator/staged", "s\n")
	r.gitIn(r.side, "add", "-f", ".orchestrator/staged", ".orchestrator/tracked", ".Orchestrator")
	if err := os.Remove(filepath.Join(r.side, ".orchestrator/gone")); err != nil {
		t.Fatal(err)
	}
	if c := r.commit(r.side, "nothing of ours"); c != first {
		t.Errorf("committed:\n%s", r.git("show", "--stat", c))
	}
	for _, name := range []string{"changed", "state.db"} {
		id := r.gitIn(r.side, "hash-object", ".orchestrator/"+name)
		if got := r.git("cat-file", "--batch-check", "--batch-all-objects"); strings.Contains(got, id) {
			t.Errorf("%s was read into the repository", name)
		}
	}
	r.writeIn(r.side, "sub/.orchestrator/file", "not at the root\n")
	r.writeIn(r.side, ".orchestrator.toml", "# theirs\n")
	c := r.commit(r.side, "ours")
	if got := r.git("show", "--name-status", "--format=", "--no-renames", c); got !=
		"A\t.orchestrator.toml\nA\tsub/.orchestrator/file" {
		t.Errorf("commit holds:\n%s", got)
	}
	if got := r.read(r.side, ".orchestrator/tracked") + r.read(r.side, ".orchestrator/state.db"); got !=
		"2\nconversations\n" {
		t.Errorf("written over: %q", got)
	}
	r.git("merge", "-q", "--ff-only", "side")
	if all, why, err := r.merger.Reachable(t.Context(), r.side, r.dir); err != nil || !all {
		t.Errorf("not reachable: %s %v", why, err)
	}
}
