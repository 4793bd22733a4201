package branch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/checkpoint/branch"
)

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
