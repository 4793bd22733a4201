package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

func newGit(t *testing.T) *Git {
	t.Helper()
	home := t.TempDir()
	g, err := New("HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCheckBranch(t *testing.T) {
	g := newGit(t)
	for _, name := range []string{"main", "orchestrator/auth-a3f2", "feature/ü", "v1.2", "a_b", "x-y", "1", "été", "日本"} {
		if err := CheckBranch(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := g.Run(context.Background(), Call{Dir: t.TempDir(),
			Args: []string{"check-ref-format", "--branch", name}}); err != nil {
			t.Errorf("git refuses %q: %v", name, err)
		}
	}
	for name, why := range map[string]string{
		"": "empty", "-x": "option", "a/-x": "option", "--upload-pack=touch x": "white space", "-c": "option",
		";id": "shell", "$(id)": "shell",
		"`id`": "shell", "a\nb": "white space", "a\u3000b": "white space", "a\u202eb": "unprintable",
		"a\u200bb": "unprintable", "../x": "consecutive dots",
		"a.lock": ".lock", "a.LOCK/b": ".lock", "@{-1}": "@{", "@": "current commit", "head": "current commit",
		"a//b": "empty part", "/a": "empty part",
		"a/": "empty part", "a.": "ends with a dot", ".a": "begins with a dot", "a/.b": "begins with a dot",
		"a~": "does not allow", "a^": "does not allow",
		"a:b": "does not allow", "a?": "does not allow", "a*": "does not allow", "a[": "does not allow",
		`a\b`: "does not allow", "a\x7f": "unprintable",
		"a\x00": "unprintable", "\xff": "UTF-8", strings.Repeat("x", 5000): "5000 bytes",
	} {
		err := CheckBranch(name)
		if !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

// FuzzCheckBranch: what is let through is harmless on a command line and right to git.
func FuzzCheckBranch(f *testing.F) {
	for _, s := range []string{"main", "-x", "a..b", "a/b", "@{", "\u202e", "x.lock", "a b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if CheckBranch(name) != nil {
			return
		}
		if strings.HasPrefix(name, "-") || strings.Contains(name, "..") || strings.ContainsAny(name, " \n\x00~^:?*[\\;&|$`") {
			t.Errorf("let through %q", name)
		}
		for _, r := range name {
			if !unicode.IsPrint(r) {
				t.Errorf("let through %q", name)
			}
		}
	})
}

func TestEnvironIsClean(t *testing.T) {
	got := environ([]string{
		"PATH=/bin", "GIT_DIR=/evil", "GIT_INDEX_FILE=x", "GIT_CONFIG_PARAMETERS='core.hooksPath=x'", "GIT_CONFIG_COUNT=1",
		"GIT_SSH=ssh",
		"GIT_AUTHOR_NAME=A", "LC_ALL=de_DE", "LC_MESSAGES=de", "LANGUAGE=de", "GIT_EXTERNAL_DIFF=x", "GIT_ASKPASS=x",
		"GIT_TRACE=1",
	})
	for _, kv := range got {
		key, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "LC_MESSAGES",
			"LANGUAGE",
			"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_TRACE"}, key) {
			t.Errorf("%s leaks in", kv)
		}
	}
	g, err := New("GIT_DIR=/evil", "LC_ALL=de_DE.UTF-8", "GIT_COMMITTER_NAME=C")
	if err != nil {
		t.Fatal(err)
	}
	own := g.Env()
	if slices.Contains(own, "GIT_DIR=/evil") || slices.Contains(own, "LC_ALL=de_DE.UTF-8") ||
		!slices.Contains(own, "GIT_COMMITTER_NAME=C") {
		t.Errorf("what is added to the environment leaks in: %v", own)
	}
	for _, want := range []string{"PATH=/bin", "LC_ALL=C", "GIT_SSH=ssh", "GIT_AUTHOR_NAME=A", "GIT_TERMINAL_PROMPT=0"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestErrors(t *testing.T) {
	g := newGit(t)
	_, err := g.Run(context.Background(), Call{Dir: t.TempDir(), Args: []string{"rev-parse", "HEAD"}})
	var said *Error
	if !errors.As(err, &said) || said.Code != 128 || !errors.Is(err, thread.ErrNoRepository) ||
		!strings.Contains(err.Error(), "git rev-parse: fatal") {
		t.Errorf("err = %v", err)
	}
	hostile := &Error{Command: "x", Stderr: "a\x1b]0;title\x07\nb\u202ec\xff\u009bd" + strings.Repeat("z", 9000)}
	if s := hostile.Error(); strings.ContainsAny(s, "\x1b\x07\n\u202e\u009b") || len(s) > 700 {
		t.Errorf("%d bytes: %.80q", len(s), s)
	}
	full := &Error{Command: "x", Stderr: "error: unable to write file: No space left on device"}
	if !errors.Is(full, thread.ErrDiskFull) || errors.Is(full, thread.ErrNoRepository) {
		t.Error("a full disk is not told")
	}
}

// TestContextEndsTheGroup starts a git that starts something that would never end.
func TestContextEndsTheGroup(t *testing.T) {
	g := newGit(t)
	pipe := filepath.Join(t.TempDir(), "started")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { // ends with the context
		_, err := g.Run(ctx, Call{Dir: t.TempDir(), Args: []string{"hang"},
			Config: []string{"alias.hang=!touch " + pipe + "; sleep 1000"}})
		done <- err
	}()
	await.Until(t, "what git starts", func() bool { _, err := os.Stat(pipe); return err == nil })
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("git goes on after its context")
	}
}

func TestFind(t *testing.T) {
	g := newGit(t)
	ctx := context.Background()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	run := func(dir string, args ...string) {
		t.Helper()
		if _, err := g.Run(ctx, Call{Dir: dir, Args: args, Env: []string{
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b",
		}}); err != nil {
			t.Fatal(err)
		}
	}
	run(top, "init", "-q", "main")
	run(at("main"), "commit", "-q", "--allow-empty", "-m", "x")
	run(at("main"), "worktree", "add", "-q", "-b", "w", at("linked"))
	run(at("main"), "worktree", "add", "-q", "-b", "lost", at("main/trees/lost"))
	if err := os.Remove(at("main/trees/lost/.git")); err != nil {
		t.Fatal(err)
	}
	run(top, "init", "-q", "--bare", "bare.git")
	run(top, "init", "-q", "--separate-git-dir", at("elsewhere"), "apart")
	for _, dir := range []string{at("main/deep/er"), at("main/trees/lost/deep"), at("evil"), at("odd"), at("none")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{
		at("evil/.git"): "gitdir: " + at("main/.git/worktrees/../../../elsewhere") + "/nothing\n", at("odd/.git"): "what\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		dir  string
		want Worktree
		err  error
	}{
		{at("main/deep/er"), Worktree{at("main"), at("main/.git"), at("main/.git")}, nil},
		{at("linked"), Worktree{at("linked"), at("main/.git/worktrees/linked"), at("main/.git")}, nil},
		{at("apart"), Worktree{at("apart"), at("elsewhere"), at("elsewhere")}, nil},
		{at("bare.git"), Worktree{}, ErrBare},
		{at("bare.git/refs/heads"), Worktree{}, ErrBare},
		{at("evil"), Worktree{}, ErrForeign},
		{at("main/trees/lost/deep"), Worktree{}, ErrForeign},
		{at("main/trees"), Worktree{at("main"), at("main/.git"), at("main/.git")}, nil},
		{at("odd"), Worktree{}, ErrForeign},
		{at("none"), Worktree{}, thread.ErrNoRepository},
		{at("gone"), Worktree{}, os.ErrNotExist},
	} {
		got, err := Find(tc.dir)
		if got != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %+v %v", tc.dir, got, err)
		}
		if tc.dir == at("evil") && !strings.Contains(err.Error(), at("elsewhere/nothing")) {
			t.Errorf("it is not said where it leads: %v", err)
		}
		if tc.err == nil {
			if err := g.Check(ctx, got); err != nil {
				t.Errorf("%s: %v", tc.dir, err)
			}
		}
	}
}
