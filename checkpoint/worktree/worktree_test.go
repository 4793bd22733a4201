package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestAddHoldsTheSnapshot(t *testing.T) {
	r := isolate(t)
	r.Write("clean", "c\n")
	r.Write("changed", "one\n")
	r.Write("gone", "g\n")
	r.Write(".gitignore", ".env\n")
	base := r.CommitAll("first")
	r.Write("changed", "two\n")
	r.Remove("gone")
	r.Write("untracked", "u\n")
	r.Write(".env", "S")
	snap := r.Take(nil)
	r.Write("changed", "three: the parent goes on\n")
	r.CommitAll("second")
	before := r.Visible()

	wt := r.Add("try-a1b2", snap)
	if wt.Branch != "orchestrator/try-a1b2" || wt.Base != base || r.GitIn(wt.Path, "rev-parse", "HEAD") != base ||
		r.GitIn(wt.Path, "symbolic-ref", "HEAD") != "refs/heads/orchestrator/try-a1b2" {
		t.Errorf("worktree %+v", wt)
	}
	r.Same("fork", r.Files(wt.Path), map[string]string{
		"clean": "c\n", "changed": "two\n", "untracked": "u\n", ".gitignore": ".env\n",
	})
	status := r.GitIn(wt.Path, "status", "--porcelain")
	if status != " M changed\n D gone\n?? untracked" {
		t.Errorf("status:\n%s", status)
	}
	first, err := r.Store.Take(context.Background(), "t2", wt.Path, &snap)
	if err != nil || first.Commit != snap.Commit || first.Files != 0 {
		t.Errorf("a fork's first snapshot costs something: %+v %v", first, err)
	}
	r.Same("parent", r.Files(r.Dir), map[string]string{
		"clean": "c\n", "changed": "three: the parent goes on\n", "untracked": "u\n", ".gitignore": ".env\n", ".env": "S",
	})
	list, err := r.Store.Finder.List(context.Background())
	if err != nil || len(list) != 1 || list[0].Worktree != wt || list[0].Thread != "t2" || list[0].Missing {
		t.Errorf("list: %+v %v", list, err)
	}
	// The parent's snapshots may go; the fork keeps its own.
	if err := r.Store.Drop(context.Background(), "t1"); err != nil {
		t.Fatal(err)
	}
	r.Git("gc", "-q", "--prune=now")
	r.sameBool("kept", r.Held(snap)["untracked"] == "u\n", true)

	if _, err := r.Store.Remove(context.Background(), "t2", wt); err != nil {
		t.Fatal(err)
	}
	if after := r.Visible(); after != before {
		t.Errorf("something is left after the fork is gone:\n%s\n==\n%s", before, after)
	}
}

func (r *repo) sameBool(what string, got, want bool) {
	if got != want {
		r.Errorf("%s: %v", what, got)
	}
}

func TestAddOfUnborn(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a\n")
	snap := r.Take(nil)
	wt := r.Add("fork", snap)
	r.Same("fork", r.Files(wt.Path), map[string]string{"a": "a\n"})
	if s := r.GitIn(wt.Path, "status", "--porcelain", "--branch"); s != "## No commits yet on orchestrator/fork\n?? a" {
		t.Errorf("status %q", s)
	}
	saved, err := r.Store.Remove(context.Background(), "t2", wt)
	if err != nil || saved.Tree != snap.Tree {
		t.Errorf("%+v %v", saved, err)
	}
}

func TestAddOfSkippedTracked(t *testing.T) {
	r := isolate(t)
	r.Store = r.Open(100)
	r.Write("big", "small when it was committed\n")
	r.CommitAll("first")
	r.Write("big", strings.Repeat("x", 200))
	wt := r.Add("fork", r.Take(nil))
	r.Same("fork", r.Files(wt.Path), map[string]string{"big": "small when it was committed\n"})
	if s := r.GitIn(wt.Path, "status", "--porcelain"); s != "" {
		t.Errorf("status %q", s)
	}
}

func TestAddRefusesNames(t *testing.T) {
	r := isolate(t)
	r.Write("a", "a")
	r.CommitAll("first")
	snap := r.Take(nil)
	canary := filepath.Join(r.Top, "canary")
	before := r.Visible()
	for _, name := range []string{
		"", "-c", "--upload-pack=touch " + canary, "-b", ";touch " + canary, "$(touch " + canary + ")", "`touch x`", "a\nb",
		"a b",
		"a\u3000b", "a\u202eb", "../x", "a/../b", "a..b", "x.lock", "X.LOCK", "@{-1}", "@", ".hidden", "a/b", "a~1", "a^",
		"a:b", "a?", "*",
		"a[b", "a\\b", "end.", "a\x00b", "a\x7fb", "a\x1b[31m", strings.Repeat("x", 5000), "\xff", "\u200bx", "HEAD/x",
		"/abs", "a//b",
	} {
		_, err := r.Store.Add(context.Background(), "t2", r.Dir, name, snap)
		if !errors.Is(err, thread.ErrInvalid) {
			t.Errorf("%.40q: %v", name, err)
			continue
		}
		for _, c := range err.Error() {
			if c < ' ' || c == 0x7f || c == 0x202e {
				t.Errorf("%.40q: the error holds %U", name, c)
			}
		}
		if len(err.Error()) > 400 {
			t.Errorf("%.40q: the error is %d bytes long", name, len(err.Error()))
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a name was run")
	}
	if r.Visible() != before {
		t.Error("something was made")
	}
}

func TestAddClashes(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.Write("a", "a")
	base := r.CommitAll("first")
	snap := r.Take(nil)
	r.Add("one", snap)
	r.Git("branch", "orchestrator/Two")
	r.Git("branch", "orchestrator/deep/er")
	r.Write("x", "x")
	r.CommitAll("second")
	r.Git("branch", "orchestrator/elsewhere")
	for _, name := range []string{"one", "ONE", "two", "deep", "elsewhere"} {
		_, err := r.Store.Add(ctx, "t2", r.Dir, name, snap)
		if !errors.Is(err, thread.ErrNameTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A branch that stands at the base and is free is taken up: a removed worktree comes back.
	r.Git("branch", "orchestrator/again", base)
	if wt := r.Add("again", snap); wt.Base != base {
		t.Errorf("%+v", wt)
	}
	other := isolate(t)
	other.Git("commit", "-q", "--allow-empty", "-m", "x")
	other.Git("branch", "orchestrator")
	var hint *thread.HintError
	if _, err := other.Store.Add(ctx, "t2", other.Dir, "x", other.Take(nil)); !errors.Is(err, thread.ErrNameTaken) ||
		!errors.As(err, &hint) || !strings.Contains(hint.Hint, "git branch -m orchestrator") {
		t.Errorf("a branch called orchestrator: %v", err)
	}
	if said, err := r.Store.Repair(ctx); err != nil || len(said) > 0 {
		t.Errorf("left to repair: %q %v", said, err)
	}
}

// TestRemoveSparesSubmodules: what an agent did inside of one lies in no snapshot.

func TestWorktreesThatPeopleTouched(t *testing.T) {
	ctx := context.Background()
	setup := func(t *testing.T) (*repo, thread.Worktree) {
		r := isolate(t)
		r.Write("a", "a\n")
		r.CommitAll("first")
		wt := r.Add("fork", r.Take(nil))
		r.WriteIn(wt.Path, "b", "b\n", 0o644)
		if _, err := r.Store.Take(ctx, "t2", wt.Path, nil); err != nil {
			t.Fatal(err)
		}
		return r, wt
	}
	t.Run("deleted", func(t *testing.T) {
		r, wt := setup(t)
		if err := os.RemoveAll(wt.Path); err != nil {
			t.Fatal(err)
		}
		if got := r.Store.Describe(ctx, wt.Path); got != "missing" {
			t.Errorf("described as %q", got)
		}
		if _, err := r.Store.Take(ctx, "t2", wt.Path, nil); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("take: %v", err)
		}
		if list, err := r.Store.Finder.List(ctx); err != nil || len(list) != 1 || !list[0].Missing {
			t.Errorf("list %+v %v", list, err)
		}
		if _, err := r.Store.Remove(ctx, "t2", wt); err != nil {
			t.Error(err)
		}
		if list, err := r.Store.Finder.List(ctx); err != nil || len(list) != 0 {
			t.Errorf("list %+v %v", list, err)
		}
	})
	t.Run("moved", func(t *testing.T) {
		r, wt := setup(t)
		moved := filepath.Join(r.Top, "moved")
		if err := os.Rename(wt.Path, moved); err != nil {
			t.Fatal(err)
		}
		snap, err := r.Store.Take(ctx, "t2", moved, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Same("moved", r.Held(snap), map[string]string{"a": "a\n", "b": "b\n"})
		if _, err := r.Store.Remove(ctx, "t2", thread.Worktree{Path: moved}); err != nil {
			t.Error(err)
		}
	})
	t.Run("its .git leads elsewhere", func(t *testing.T) {
		r, wt := setup(t)
		evil := filepath.Join(r.Top, "evil")
		r.Git("init", "-q", evil)
		for _, to := range []string{filepath.Join(evil, ".git"), filepath.Join(r.Top, "nowhere"), "/etc"} {
			r.WriteIn(wt.Path, ".git", "gitdir: "+to+"\n", 0o644)
			if _, err := r.Store.Remove(ctx, "t2", wt); err == nil {
				t.Errorf("%s: removed", to)
			}
			if _, err := r.Store.Restore(ctx, "t2", wt.Path, thread.Snapshot{Commit: r.Git("rev-parse", "HEAD")}); err == nil &&
				to != filepath.Join(evil, ".git") {
				t.Errorf("%s: restored", to)
			}
		}
	})
}

// TestNothingOfTheRepositoryRuns is about a repository that an attacker, or an agent, has prepared.

func TestNothingOfTheRepositoryRuns(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	canary := filepath.Join(r.Top, "canary")
	touch := "touch " + canary
	r.Write("a.txt", "a\n")
	r.Write(".gitattributes", "* filter=evil diff=evil merge=evil text=auto\n")
	r.CommitAll("first")
	script := "#!/bin/sh\n" + touch + "\n"
	for _, hook := range []string{
		"pre-commit", "post-checkout", "post-index-change", "reference-transaction", "post-rewrite", "pre-auto-gc",
		"fsmonitor-watchman", "post-commit",
	} {
		r.WriteIn(r.Dir, ".git/hooks/"+hook, script, 0o755)
		r.WriteIn(r.Dir, "hooks/"+hook, script, 0o755)
	}
	r.WriteIn(r.Top, "evil.sh", script, 0o755)
	evil := filepath.Join(r.Top, "evil.sh")
	for _, kv := range []string{
		"core.fsmonitor=" + evil, "core.hooksPath=" + filepath.Join(r.Dir, "hooks"), "filter.evil.clean=" + evil,
		"filter.evil.smudge=" + evil,
		"filter.evil.process=" + evil, "diff.evil.command=" + evil, "diff.evil.textconv=" + evil, "merge.evil.driver=" + evil,
		"diff.external=" + evil, "core.pager=" + evil, "core.editor=" + evil, "core.sshCommand=" + evil,
		"gpg.program=" + evil,
		"commit.gpgSign=true", "tag.gpgSign=true", "core.gitProxy=" + evil, "credential.helper=" + evil,
		"core.askPass=" + evil,
		"core.alternateRefsCommand=" + evil, "uploadpack.packObjectsHook=" + evil, "core.autocrlf=true", "core.safecrlf=true",
	} {
		key, val, _ := strings.Cut(kv, "=")
		r.Git("config", key, val)
	}
	_ = os.Remove(canary)
	check := func(what string) {
		t.Helper()
		if _, err := os.Stat(canary); err == nil {
			t.Errorf("%s ran something of the repository", what)
			_ = os.Remove(canary)
		}
	}
	first := r.Take(nil)
	check("take")
	r.Write("a.txt", "b\n")
	r.Write("b.txt", "b\r\n")
	second := r.Take(&first)
	check("take")
	wt := r.Add("fork", second)
	check("add")
	r.WriteIn(wt.Path, "c.txt", "c", 0o644)
	if _, err := r.Store.Diff(ctx, wt.Path, second.Base, ""); err != nil {
		t.Error(err)
	}
	if _, err := r.Store.Diff(ctx, wt.Path, first.Commit, second.Commit); err != nil {
		t.Error(err)
	}
	check("diff")
	if got := r.Store.Describe(ctx, wt.Path); !strings.Contains(got, "files changed") {
		t.Errorf("described as %q", got)
	}
	check("describe")
	r.Restore(first)
	check("restore")
	if _, err := r.Store.Remove(ctx, "t2", wt); err != nil {
		t.Error(err)
	}
	check("remove")
	if _, err := r.Store.Repair(ctx); err != nil {
		t.Error(err)
	}
	if err := r.Store.Drop(ctx, "t1"); err != nil {
		t.Error(err)
	}
	check("repair and drop")
}
