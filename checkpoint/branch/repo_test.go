package branch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/branch"
	"orchestrator/checkpoint/git/gittest"
)

// repo is a repository with a worktree on the branch "side".
type repo struct {
	*testing.T
	top, dir, side string
	views          string // the folder of frozen views
	env            []string
	merger         *branch.Merger
	accepted       map[string]string // place: content
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	return newRepoIn(t, t.TempDir())
}

func newRepoIn(t *testing.T, top string) *repo {
	t.Helper()
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(top, "home")
	r := &repo{T: t, top: top, views: filepath.Join(top, "views"), accepted: map[string]string{},
		dir: filepath.Join(top, "project"), side: filepath.Join(top, "side"), env: []string{
			"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"), "TMPDIR=" + t.TempDir(),
		}}
	for _, dir := range []string{home, r.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if r.merger, err = branch.New(branch.Config{State: r.views, Accepted: r.accepts, Env: r.env}); err != nil {
		t.Fatal(err)
	}
	r.writeIn(home, ".gitconfig", "[user]\n\tname = A Person\n\temail = person@example.org\n")
	gittest.Init(r, r.dir)
	r.write("a", "1\n2\n3\n")
	r.write("b", "b\n")
	r.write(".gitignore", "*.env\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	r.git("worktree", "add", "-q", "-b", "side", r.side)
	return r
}

func (r *repo) accepts(place string, content []byte) bool {
	return r.accepted[place] == string(content)
}

func (r *repo) git(args ...string) string { r.Helper(); return r.gitIn(r.dir, args...) }

func (r *repo) gitIn(dir string, args ...string) string {
	r.Helper()
	return gittest.Run(r, r.env, dir, args...)
}

func (r *repo) write(name, content string) { r.Helper(); r.writeIn(r.dir, name, content) }

func (r *repo) writeIn(dir, name, content string) {
	r.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *repo) read(dir, name string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

func (r *repo) commit(dir, message string) string {
	r.Helper()
	c, err := r.merger.Commit(context.Background(), dir, message)
	if err != nil {
		r.Fatal(err)
	}
	return c
}

// state is what a merge that did not happen must leave as it was.
func (r *repo) state() string {
	r.Helper()
	return strings.Join([]string{
		r.git("status", "--porcelain", "--ignored"), r.git("for-each-ref"), r.git("ls-files", "-s"), r.git("diff"),
		r.git("stash", "list"),
	}, "\n--\n")
}
