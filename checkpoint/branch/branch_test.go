package branch_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/checkpoint/branch"
	"orchestrator/thread"
)

// repo is a repository with a worktree on the branch "side".
type repo struct {
	*testing.T
	top, dir, side string
	env            []string
	merger         *branch.Merger
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
	r := &repo{T: t, top: top, dir: filepath.Join(top, "project"), side: filepath.Join(top, "side"), env: []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
	}}
	for _, dir := range []string{home, r.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if r.merger, err = branch.New(r.env...); err != nil {
		t.Fatal(err)
	}
	r.git("config", "--global", "user.name", "A Person")
	r.git("config", "--global", "user.email", "person@example.org")
	r.git("init", "-q", "-b", "main")
	r.write("a", "1\n2\n3\n")
	r.write("b", "b\n")
	r.write(".gitignore", "*.env\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	r.git("worktree", "add", "-q", "-b", "side", r.side)
	return r
}

func (r *repo) git(args ...string) string { r.Helper(); return r.gitIn(r.dir, args...) }

func (r *repo) gitIn(dir string, args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, r.env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(string(out), "\n")
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
		r.git("status", "--porcelain", "--ignored"), r.git("for-each-ref"), r.git("ls-files", "-s"), r.git("diff"), r.git("stash", "list"),
	}, "\n--\n")
}

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

func TestMerge(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	r.writeIn(r.side, "a", "1\n2\n3\n4\n")
	r.commit(r.side, "work")
	r.write("unrelated", "untracked in the target")
	r.write("b", "changed in the target, not committed\n")
	before := r.state()
	what, err := r.merger.Preview(ctx, r.dir, "side")
	if err != nil || what.UpToDate || len(what.Conflicts) > 0 {
		t.Errorf("preview %+v %v", what, err)
	}
	if r.state() != before {
		t.Error("a preview changed something")
	}
	if all, why, err := r.merger.Reachable(ctx, r.side, r.dir); all || why != "1 commit is not merged" || err != nil {
		t.Errorf("reachable: %v %q %v", all, why, err)
	}
	done, err := r.merger.Merge(ctx, r.dir, "side", "Merge side\n\n- details")
	if err != nil || done.Commit != r.git("rev-parse", "main") || len(done.Conflicts) > 0 {
		t.Fatalf("%+v %v", done, err)
	}
	if r.git("show", "-s", "--format=%s|%P", "HEAD") != "Merge side|"+r.git("rev-parse", "main^1", "side~0")[:40]+" "+r.git("rev-parse", "side") {
		t.Errorf("merge commit: %s", r.git("show", "-s", "--format=%s|%P", "HEAD"))
	}
	if r.read(r.dir, "a") != "1\n2\n3\n4\n" || r.read(r.dir, "b") != "changed in the target, not committed\n" {
		t.Error("files are not as they should be")
	}
	again, err := r.merger.Merge(ctx, r.dir, "side", "again")
	if err != nil || !again.UpToDate {
		t.Errorf("%+v %v", again, err)
	}
	if all, why, err := r.merger.Reachable(ctx, r.side, r.dir); !all || err != nil {
		t.Errorf("reachable: %v %q %v", all, why, err)
	}
	r.writeIn(r.side, "loose", "x")
	if all, why, err := r.merger.Reachable(ctx, r.side, r.dir); all || why != "1 file is not committed" || err != nil {
		t.Errorf("reachable: %v %q %v", all, why, err)
	}
	ahead, behind, err := r.merger.AheadBehind(ctx, r.dir, "main", "side")
	if err != nil || ahead != 1 || behind != 0 {
		t.Errorf("ahead %d behind %d %v", ahead, behind, err)
	}
}

func TestMergeRefusesToOverwrite(t *testing.T) {
	for name, tc := range map[string]struct {
		fork, target func(*repo)
		file         string
	}{
		"a changed file": {
			func(r *repo) { r.writeIn(r.side, "a", "side\n") }, func(r *repo) { r.write("a", "mine\n") }, "a"},
		"a staged file": {
			func(r *repo) { r.writeIn(r.side, "a", "side\n") }, func(r *repo) { r.write("a", "mine\n"); r.git("add", "a") }, "a"},
		"an untracked file": {
			func(r *repo) { r.writeIn(r.side, "new", "side\n") }, func(r *repo) { r.write("new", "mine\n") }, "new"},
		"an ignored file": {
			func(r *repo) { r.writeIn(r.side, "x.env", "side\n"); r.gitIn(r.side, "add", "-f", "x.env") },
			func(r *repo) { r.write("x.env", "MY SECRET\n") }, "x.env"},
		"an ignored file where a folder goes": {
			func(r *repo) { r.writeIn(r.side, "d.env/f", "side\n"); r.gitIn(r.side, "add", "-f", "d.env") },
			func(r *repo) { r.write("d.env", "MY SECRET\n") }, "d.env/f"},
		"a folder with ignored files where a file goes": {
			func(r *repo) { r.writeIn(r.side, "d", "side\n") }, func(r *repo) { r.write("d/x.env", "MY SECRET\n") }, "d"},
		"a file deleted there, changed here": {
			func(r *repo) { _ = os.Remove(filepath.Join(r.side, "b")) }, func(r *repo) { r.write("b", "mine\n") }, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			tc.fork(r)
			r.commit(r.side, "work")
			tc.target(r)
			before := r.state()
			_, err := r.merger.Merge(context.Background(), r.dir, "side", "m")
			var dirty *branch.DirtyError
			if !errors.As(err, &dirty) || !slices.Contains(dirty.Files, tc.file) || !errors.Is(err, thread.ErrConflict) {
				t.Errorf("err = %v", err)
			}
			if _, err := r.merger.Preview(context.Background(), r.dir, "side"); !errors.As(err, &dirty) {
				t.Errorf("preview: %v", err)
			}
			if after := r.state(); after != before {
				t.Errorf("touched:\n%s\n==\n%s", before, after)
			}
		})
	}
}

func conflict(t *testing.T) *repo {
	t.Helper()
	r := newRepo(t)
	r.writeIn(r.side, "a", "1\nside\n3\n")
	r.writeIn(r.side, "b", "side\n")
	r.commit(r.side, "side")
	r.write("a", "1\nmain\n3\n")
	if err := os.Remove(filepath.Join(r.dir, "b")); err != nil {
		t.Fatal(err)
	}
	r.commit(r.dir, "main")
	return r
}

func TestConflicts(t *testing.T) {
	r := conflict(t)
	ctx := context.Background()
	r.write("notes", "not committed\n")
	before := r.state()
	want := []string{"a", "b"}
	if what, err := r.merger.Preview(ctx, r.dir, "side"); err != nil || !slices.Equal(what.Conflicts, want) {
		t.Errorf("preview %+v %v", what, err)
	}
	if r.state() != before {
		t.Error("a preview changed something")
	}
	got, err := r.merger.Merge(ctx, r.dir, "side", "m")
	if err != nil || !slices.Equal(got.Conflicts, want) || got.Commit != "" {
		t.Fatalf("%+v %v", got, err)
	}
	if in, err := r.merger.InProgress(ctx, r.dir); !in || err != nil {
		t.Errorf("in progress: %v %v", in, err)
	}
	if _, err := r.merger.Merge(ctx, r.dir, "side", "m"); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("a second merge: %v", err)
	}
	if _, err := r.merger.Commit(ctx, r.dir, "m"); !errors.Is(err, thread.ErrConflict) {
		t.Errorf("a commit in the middle: %v", err)
	}
	if err := r.merger.Abort(ctx, r.dir); err != nil {
		t.Fatal(err)
	}
	if after := r.state(); after != before {
		t.Errorf("an abort leaves something:\n%s\n==\n%s", before, after)
	}
	if err := r.merger.Abort(ctx, r.dir); err != nil {
		t.Errorf("a second abort: %v", err)
	}
	if _, err := r.merger.Continue(ctx, r.dir); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("continue without a merge: %v", err)
	}
}

func TestContinue(t *testing.T) {
	r := conflict(t)
	ctx := context.Background()
	if _, err := r.merger.Merge(ctx, r.dir, "side", "The merge\n\nof both"); err != nil {
		t.Fatal(err)
	}
	open, err := r.merger.Continue(ctx, r.dir)
	if err != nil || !slices.Equal(open.Conflicts, []string{"a", "b"}) {
		t.Errorf("%+v %v", open, err)
	}
	r.write("a", "1\nboth\n3\n") // no marks any more: resolved
	open, err = r.merger.Continue(ctx, r.dir)
	if err != nil || !slices.Equal(open.Conflicts, []string{"b"}) {
		t.Errorf("a file that one side deleted has no marks and is not resolved: %+v %v", open, err)
	}
	r.git("rm", "-q", "--cached", "b")
	done, err := r.merger.Continue(ctx, r.dir)
	if err != nil || done.Commit != r.git("rev-parse", "main") || r.git("show", "-s", "--format=%B") != "The merge\n\nof both\n" {
		t.Errorf("%+v %v %q", done, err, r.git("show", "-s", "--format=%B"))
	}
	if r.git("show", "HEAD:a") != "1\nboth\n3" {
		t.Errorf("a = %q", r.git("show", "HEAD:a"))
	}
}

func TestBadNames(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	canary := filepath.Join(r.top, "canary")
	before := r.state()
	for _, name := range []string{
		"", "-c", "--upload-pack=touch " + canary, "--output=" + canary, "a..b", "@{-1}", "a b", "a\nb", "$(touch " + canary + ")", "x.lock",
		strings.Repeat("x", 5000), "a\u202eb", "../x", ":/first", "main^{tree}",
	} {
		for what, err := range map[string]error{
			"merge":   second(r.merger.Merge(ctx, r.dir, name, "m")),
			"preview": second(r.merger.Preview(ctx, r.dir, name)),
			"push":    second(r.merger.Push(ctx, r.dir, name)),
			"pr":      second(r.merger.OpenPR(ctx, r.dir, name, "", "t", "b")),
			"ahead":   func() error { _, _, err := r.merger.AheadBehind(ctx, r.dir, name, "main"); return err }(),
		} {
			if !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("%s %.30q: %v", what, name, err)
			}
		}
	}
	if _, err := r.merger.Merge(ctx, r.dir, "nothing-like-it", "m"); !errors.Is(err, thread.ErrNotFound) {
		t.Errorf("an unknown branch: %v", err)
	}
	if _, err := os.Stat(canary); err == nil || r.state() != before {
		t.Error("a name did something")
	}
}

func second[T any](_ T, err error) error { return err }

func TestNothingOfTheRepositoryRuns(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	canary := filepath.Join(r.top, "canary")
	evil := filepath.Join(r.top, "evil.sh")
	script := "#!/bin/sh\ntouch " + canary + "\n"
	r.writeIn(r.top, "evil.sh", script)
	for _, hook := range []string{
		"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "pre-merge-commit", "post-merge", "reference-transaction",
		"post-index-change", "pre-push", "post-checkout", "fsmonitor-watchman",
	} {
		r.writeIn(r.dir, ".git/hooks/"+hook, script)
		if err := os.Chmod(filepath.Join(r.dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(evil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.editor", "core.pager", "sequence.editor"} {
		r.git("config", key, evil)
	}
	r.git("config", "core.hooksPath", filepath.Join(r.dir, ".git/hooks"))
	bare := filepath.Join(r.top, "remote")
	r.git("init", "-q", "--bare", bare)
	r.git("remote", "add", "origin", bare)
	_ = os.Remove(canary)
	r.writeIn(r.side, "a", "side\n")
	r.commit(r.side, "work")
	if _, err := r.merger.Merge(ctx, r.dir, "side", "m"); err != nil {
		t.Fatal(err)
	}
	if remote, err := r.merger.Push(ctx, r.dir, "main"); err != nil || remote != "origin" {
		t.Errorf("push: %q %v", remote, err)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a hook ran")
	}
	for _, key := range []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand",
	} {
		r.git("config", key, evil)
		r.write(".gitattributes", "* filter=evil merge=evil\n")
		var refused *branch.ProgramError
		if _, err := r.merger.Commit(ctx, r.dir, "m"); !errors.As(err, &refused) {
			t.Errorf("%s: %v", key, err)
		}
		if _, _, err := r.merger.Reachable(ctx, r.dir, r.side); !errors.As(err, &refused) {
			t.Errorf("%s: %v", key, err)
		}
		if _, err := os.Stat(canary); err == nil {
			t.Errorf("%s ran", key)
			_ = os.Remove(canary)
		}
		r.git("config", "--unset", key)
	}
	// What the person says globally is theirs.
	r.git("config", "filter.mine.clean", "cat")
	r.git("config", "--global", "filter.mine.clean", "cat")
	r.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
	if err := os.Remove(filepath.Join(r.dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	r.write("c", "c")
	r.commit(r.dir, "m")
}

func TestPushSaysWhatIsMissing(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	if _, err := r.merger.Push(ctx, r.dir, "main"); !errors.Is(err, thread.ErrNotFound) || !strings.Contains(err.Error(), "git remote add") {
		t.Errorf("no remote: %v", err)
	}
	r.git("remote", "add", "one", filepath.Join(r.top, "nowhere"))
	if _, err := r.merger.Push(ctx, r.dir, "main"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a remote that is not there: %v", err)
	}
	r.git("remote", "add", "two", filepath.Join(r.top, "nowhere"))
	if _, err := r.merger.Push(ctx, r.dir, "main"); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("two remotes: %v", err)
	}
}

func TestOpenPR(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	bin := filepath.Join(r.top, "bin")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(git, filepath.Join(bin, "git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if _, err := r.merger.OpenPR(ctx, r.dir, "side", "main", "t", "b"); !errors.Is(err, thread.ErrUnsupported) || !strings.Contains(err.Error(), "cli.github.com") {
		t.Errorf("without gh: %v", err)
	}
	r.writeIn(bin, "gh", "#!/bin/sh\nprintf '%s\\n' \"$@\" >"+r.top+"/args\necho warming up >&2\necho https://github.com/o/r/pull/7\n")
	if err := os.Chmod(filepath.Join(bin, "gh"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := r.merger.OpenPR(ctx, r.dir, "side", "main", "--title; $(x)", "b")
	if err != nil || got != "https://github.com/o/r/pull/7" {
		t.Errorf("%q %v", got, err)
	}
	if args := r.read(r.top, "args"); args != "pr\ncreate\n--head=side\n--title=--title; $(x)\n--body-file=-\n--base=main\n" {
		t.Errorf("gh got %q", args)
	}
	r.writeIn(bin, "gh", "#!/bin/sh\necho 'To get started, run: gh auth login' >&2\nexit 4\n")
	if _, err := r.merger.OpenPR(ctx, r.dir, "side", "", "t", "b"); err == nil || !strings.Contains(err.Error(), "gh auth login") {
		t.Errorf("not logged in: %v", err)
	}
}

func TestNoRepository(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	if _, err := r.merger.Branch(ctx, r.top); !errors.Is(err, thread.ErrNoRepository) {
		t.Errorf("%v", err)
	}
	if b, err := r.merger.Branch(ctx, r.side); b != "side" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	r.gitIn(r.side, "checkout", "-q", "--detach")
	if b, err := r.merger.Branch(ctx, r.side); b != "" || err != nil {
		t.Errorf("detached: %q %v", b, err)
	}
}
