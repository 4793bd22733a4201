package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func (r *repo) add(name string, at thread.Snapshot) thread.Worktree {
	r.Helper()
	wt, err := r.store.Add(context.Background(), "t2", r.dir, name, at)
	if err != nil {
		r.Fatal(err)
	}
	return wt
}

func TestAddHoldsTheSnapshot(t *testing.T) {
	r := isolate(t)
	r.write("clean", "c\n")
	r.write("changed", "one\n")
	r.write("gone", "g\n")
	r.write(".gitignore", ".env\n")
	base := r.commitAll("first")
	r.write("changed", "two\n")
	r.remove("gone")
	r.write("untracked", "u\n")
	r.write(".env", "S")
	snap := r.take(nil)
	r.write("changed", "three: the parent goes on\n")
	r.commitAll("second")
	before := r.visible()

	wt := r.add("try-a1b2", snap)
	if wt.Branch != "orchestrator/try-a1b2" || wt.Base != base || r.gitIn(wt.Path, "rev-parse", "HEAD") != base ||
		r.gitIn(wt.Path, "symbolic-ref", "HEAD") != "refs/heads/orchestrator/try-a1b2" {
		t.Errorf("worktree %+v", wt)
	}
	r.same("fork", r.files(wt.Path), map[string]string{
		"clean": "c\n", "changed": "two\n", "untracked": "u\n", ".gitignore": ".env\n",
	})
	status := r.gitIn(wt.Path, "status", "--porcelain")
	if status != " M changed\n D gone\n?? untracked" {
		t.Errorf("status:\n%s", status)
	}
	first, err := r.store.Take(context.Background(), "t2", wt.Path, &snap)
	if err != nil || first.Commit != snap.Commit || first.Files != 0 {
		t.Errorf("a fork's first snapshot costs something: %+v %v", first, err)
	}
	r.same("parent", r.files(r.dir), map[string]string{
		"clean": "c\n", "changed": "three: the parent goes on\n", "untracked": "u\n", ".gitignore": ".env\n", ".env": "S",
	})
	list, err := r.store.List(context.Background())
	if err != nil || len(list) != 1 || list[0].Worktree != wt || list[0].Thread != "t2" || list[0].Missing {
		t.Errorf("list: %+v %v", list, err)
	}
	// The parent's snapshots may go; the fork keeps its own.
	if err := r.store.Drop(context.Background(), "t1"); err != nil {
		t.Fatal(err)
	}
	r.git("gc", "-q", "--prune=now")
	r.sameBool("kept", r.held(snap)["untracked"] == "u\n", true)

	if _, err := r.store.Remove(context.Background(), "t2", wt); err != nil {
		t.Fatal(err)
	}
	if after := r.visible(); after != before {
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
	r.write("a", "a\n")
	snap := r.take(nil)
	wt := r.add("fork", snap)
	r.same("fork", r.files(wt.Path), map[string]string{"a": "a\n"})
	if s := r.gitIn(wt.Path, "status", "--porcelain", "--branch"); s != "## No commits yet on orchestrator/fork\n?? a" {
		t.Errorf("status %q", s)
	}
	saved, err := r.store.Remove(context.Background(), "t2", wt)
	if err != nil || saved.Tree != snap.Tree {
		t.Errorf("%+v %v", saved, err)
	}
}

func TestAddOfSkippedTracked(t *testing.T) {
	r := isolate(t)
	r.store = r.open(100)
	r.write("big", "small when it was committed\n")
	r.commitAll("first")
	r.write("big", strings.Repeat("x", 200))
	wt := r.add("fork", r.take(nil))
	r.same("fork", r.files(wt.Path), map[string]string{"big": "small when it was committed\n"})
	if s := r.gitIn(wt.Path, "status", "--porcelain"); s != "" {
		t.Errorf("status %q", s)
	}
}

func TestAddRefusesNames(t *testing.T) {
	r := isolate(t)
	r.write("a", "a")
	r.commitAll("first")
	snap := r.take(nil)
	canary := filepath.Join(r.top, "canary")
	before := r.visible()
	for _, name := range []string{
		"", "-c", "--upload-pack=touch " + canary, "-b", ";touch " + canary, "$(touch " + canary + ")", "`touch x`", "a\nb", "a b",
		"a\u3000b", "a\u202eb", "../x", "a/../b", "a..b", "x.lock", "X.LOCK", "@{-1}", "@", ".hidden", "a/b", "a~1", "a^", "a:b", "a?", "*",
		"a[b", "a\\b", "end.", "a\x00b", "a\x7fb", "a\x1b[31m", strings.Repeat("x", 5000), "\xff", "\u200bx", "HEAD/x", "/abs", "a//b",
	} {
		_, err := r.store.Add(context.Background(), "t2", r.dir, name, snap)
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
	if r.visible() != before {
		t.Error("something was made")
	}
}

func TestAddClashes(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	r.write("a", "a")
	base := r.commitAll("first")
	snap := r.take(nil)
	r.add("one", snap)
	r.git("branch", "orchestrator/Two")
	r.git("branch", "orchestrator/deep/er")
	r.write("x", "x")
	r.commitAll("second")
	r.git("branch", "orchestrator/elsewhere")
	for _, name := range []string{"one", "ONE", "two", "deep", "elsewhere"} {
		_, err := r.store.Add(ctx, "t2", r.dir, name, snap)
		if !errors.Is(err, thread.ErrNameTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A branch that stands at the base and is free is taken up: a removed worktree comes back.
	r.git("branch", "orchestrator/again", base)
	if wt := r.add("again", snap); wt.Base != base {
		t.Errorf("%+v", wt)
	}
	other := isolate(t)
	other.git("commit", "-q", "--allow-empty", "-m", "x")
	other.git("branch", "orchestrator")
	if _, err := other.store.Add(ctx, "t2", other.dir, "x", other.take(nil)); !errors.Is(err, thread.ErrNameTaken) {
		t.Errorf("a branch called orchestrator: %v", err)
	}
	if said, err := r.store.Repair(ctx); err != nil || len(said) > 0 {
		t.Errorf("left to repair: %q %v", said, err)
	}
}

// TestRemoveSparesSubmodules: what an agent did inside of one lies in no snapshot.

func TestWorktreesThatPeopleTouched(t *testing.T) {
	ctx := context.Background()
	setup := func(t *testing.T) (*repo, thread.Worktree) {
		r := isolate(t)
		r.write("a", "a\n")
		r.commitAll("first")
		wt := r.add("fork", r.take(nil))
		r.writeIn(wt.Path, "b", "b\n", 0o644)
		if _, err := r.store.Take(ctx, "t2", wt.Path, nil); err != nil {
			t.Fatal(err)
		}
		return r, wt
	}
	t.Run("deleted", func(t *testing.T) {
		r, wt := setup(t)
		if err := os.RemoveAll(wt.Path); err != nil {
			t.Fatal(err)
		}
		if got := r.store.Describe(ctx, wt.Path); got != "missing" {
			t.Errorf("described as %q", got)
		}
		if _, err := r.store.Take(ctx, "t2", wt.Path, nil); !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("take: %v", err)
		}
		if list, err := r.store.List(ctx); err != nil || len(list) != 1 || !list[0].Missing {
			t.Errorf("list %+v %v", list, err)
		}
		if _, err := r.store.Remove(ctx, "t2", wt); err != nil {
			t.Error(err)
		}
		if list, err := r.store.List(ctx); err != nil || len(list) != 0 {
			t.Errorf("list %+v %v", list, err)
		}
	})
	t.Run("moved", func(t *testing.T) {
		r, wt := setup(t)
		moved := filepath.Join(r.top, "moved")
		if err := os.Rename(wt.Path, moved); err != nil {
			t.Fatal(err)
		}
		snap, err := r.store.Take(ctx, "t2", moved, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.same("moved", r.held(snap), map[string]string{"a": "a\n", "b": "b\n"})
		if _, err := r.store.Remove(ctx, "t2", thread.Worktree{Path: moved}); err != nil {
			t.Error(err)
		}
	})
	t.Run("its .git leads elsewhere", func(t *testing.T) {
		r, wt := setup(t)
		evil := filepath.Join(r.top, "evil")
		r.git("init", "-q", evil)
		for _, to := range []string{filepath.Join(evil, ".git"), filepath.Join(r.top, "nowhere"), "/etc"} {
			r.writeIn(wt.Path, ".git", "gitdir: "+to+"\n", 0o644)
			if _, err := r.store.Remove(ctx, "t2", wt); err == nil {
				t.Errorf("%s: removed", to)
			}
			if _, err := r.store.Restore(ctx, "t2", wt.Path, thread.Snapshot{Commit: r.git("rev-parse", "HEAD")}); err == nil && to != filepath.Join(evil, ".git") {
				t.Errorf("%s: restored", to)
			}
		}
	})
}

// TestNothingOfTheRepositoryRuns is about a repository that an attacker, or an agent, has prepared.

func TestNothingOfTheRepositoryRuns(t *testing.T) {
	r := isolate(t)
	ctx := context.Background()
	canary := filepath.Join(r.top, "canary")
	touch := "touch " + canary
	r.write("a.txt", "a\n")
	r.write(".gitattributes", "* filter=evil diff=evil merge=evil text=auto\n")
	r.commitAll("first")
	script := "#!/bin/sh\n" + touch + "\n"
	for _, hook := range []string{
		"pre-commit", "post-checkout", "post-index-change", "reference-transaction", "post-rewrite", "pre-auto-gc", "fsmonitor-watchman", "post-commit",
	} {
		r.writeIn(r.dir, ".git/hooks/"+hook, script, 0o755)
		r.writeIn(r.dir, "hooks/"+hook, script, 0o755)
	}
	r.writeIn(r.top, "evil.sh", script, 0o755)
	evil := filepath.Join(r.top, "evil.sh")
	for _, kv := range []string{
		"core.fsmonitor=" + evil, "core.hooksPath=" + filepath.Join(r.dir, "hooks"), "filter.evil.clean=" + evil, "filter.evil.smudge=" + evil,
		"filter.evil.process=" + evil, "diff.evil.command=" + evil, "diff.evil.textconv=" + evil, "merge.evil.driver=" + evil,
		"diff.external=" + evil, "core.pager=" + evil, "core.editor=" + evil, "core.sshCommand=" + evil, "gpg.program=" + evil,
		"commit.gpgSign=true", "tag.gpgSign=true", "core.gitProxy=" + evil, "credential.helper=" + evil, "core.askPass=" + evil,
		"core.alternateRefsCommand=" + evil, "uploadpack.packObjectsHook=" + evil, "core.autocrlf=true", "core.safecrlf=true",
	} {
		key, val, _ := strings.Cut(kv, "=")
		r.git("config", key, val)
	}
	_ = os.Remove(canary)
	check := func(what string) {
		t.Helper()
		if _, err := os.Stat(canary); err == nil {
			t.Errorf("%s ran something of the repository", what)
			_ = os.Remove(canary)
		}
	}
	first := r.take(nil)
	check("take")
	r.write("a.txt", "b\n")
	r.write("b.txt", "b\r\n")
	second := r.take(&first)
	check("take")
	wt := r.add("fork", second)
	check("add")
	r.writeIn(wt.Path, "c.txt", "c", 0o644)
	if _, err := r.store.Diff(ctx, wt.Path, second.Base, ""); err != nil {
		t.Error(err)
	}
	if _, err := r.store.Diff(ctx, wt.Path, first.Commit, second.Commit); err != nil {
		t.Error(err)
	}
	check("diff")
	if got := r.store.Describe(ctx, wt.Path); !strings.Contains(got, "files changed") {
		t.Errorf("described as %q", got)
	}
	check("describe")
	r.restore(first)
	check("restore")
	if _, err := r.store.Remove(ctx, "t2", wt); err != nil {
		t.Error(err)
	}
	check("remove")
	if _, err := r.store.Repair(ctx); err != nil {
		t.Error(err)
	}
	if err := r.store.Drop(ctx, "t1"); err != nil {
		t.Error(err)
	}
	check("repair and drop")
}
