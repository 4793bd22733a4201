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
	if got := r.git("show", "-s", "--format=%B%an <%ae>", c); got != "#1: subject\n\n-body; $(touch x)\n# kept\nA Person <person@example.org>" {
		t.Errorf("commit reads %q", got)
	}
	if got := r.git("show", "--name-status", "--format=", "--no-renames", c); got != "M\ta\nD\tb\nA\tb/now a folder\nA\tnew/file" {
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
