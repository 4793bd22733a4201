package branch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestLeftOut: submodules, nested repositories, hooks that are not run and a folder of hooks that a fork lacks are told,
// and nothing is where there is none of them.
func TestLeftOut(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sh := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = top
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@e",
			"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@e",
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
	}
	sh(`git init -q lib; git -C lib commit -q --allow-empty -m one
		git init -q plain; git -C plain commit -q --allow-empty -m one; git -C plain worktree add -q ../plainfork
		git init -q p; printf '.husky/_\n' > p/.gitignore; git -C p add .; git -C p submodule --quiet add "$PWD/lib" sub; git -C p commit -qm all
		mkdir -p p/.husky/_; printf '#!/bin/sh\nexit 1\n' > p/.husky/_/pre-push; chmod +x p/.husky/_/pre-push; cp p/.husky/_/pre-push p/.husky/_/pre-commit
		: > p/.husky/_/commit-msg; git -C p config core.hooksPath .husky/_
		git init -q p/nested; git -C p worktree add -q ../fork`)
	m, err := New(Config{State: filepath.Join(top, "state"), Env: []string{"HOME=" + top, "GIT_CONFIG_NOSYSTEM=1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op        thread.Operation
		dir, from string
		want      string
	}{
		{thread.OpFork, "fork", "p", "hooks .husky/_|submodule sub|repository nested"},
		{thread.OpRewind, "p", "", "submodule sub|repository nested"},
		{thread.OpPush, "p", "", "gate pre-commit|gate pre-push|submodule sub|repository nested"},
		{thread.OpMerge, "p", "fork", "gate pre-commit"},
		{thread.OpDryRun, "p", "fork", "gate pre-commit"},
		{thread.OpMerge, "fork", "p", "repository nested"},
		{thread.OpPush, "fork", "", "submodule sub"},
		{thread.OpFork, "plainfork", "plain", ""},
		{thread.OpMerge, "plain", "plainfork", ""},
		{thread.OpPush, "plainfork", "", ""},
		{thread.OpRewind, "plain", "", ""},
	} {
		left, err := m.LeftOut(t.Context(), c.op, filepath.Join(top, c.dir), filepath.Join(top, c.from))
		if err != nil {
			t.Errorf("%s in %s: %v", c.op, c.dir, err)
		}
		var got []string
		for _, l := range left {
			path := l.Path
			if l.Kind == thread.LeftGate {
				path = filepath.Base(path)
			}
			got = append(got, string(l.Kind)+" "+path)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s in %s: %s, want %s", c.op, c.dir, strings.Join(got, "|"), c.want)
		}
	}
	// A pointer to a commit that only the thread's worktree has.
	sh(`git -C fork -c protocol.file.allow=always submodule --quiet update --init; git -C fork/sub commit -q --allow-empty -m two
		git init -q fork/own`)
	for range 2 { // before it is committed, which a merge does, and after it
		left, err := m.LeftOut(t.Context(), thread.OpDryRun, filepath.Join(top, "p"), filepath.Join(top, "fork"))
		if err != nil || len(left) != 3 || left[1].Path != "sub" || !strings.Contains(left[1].Why, "is not here") || left[2].Path != "own" {
			t.Errorf("a dry run for a commit that is nowhere else: %v %v", left, err)
		}
		sh(`git -C fork add sub; git -C fork commit -qm two || true`)
	}
	sh(`rm -r fork/own; git -C p -c core.hooksPath=/dev/null merge -q fork`)
	left, err := m.LeftOut(t.Context(), thread.OpMerge, filepath.Join(top, "p"), filepath.Join(top, "fork"))
	if err != nil || len(left) != 2 || left[1].Path != "sub" || !strings.Contains(left[1].Why, "is not here") {
		t.Errorf("a commit that is nowhere else: %v %v", left, err)
	}
}
