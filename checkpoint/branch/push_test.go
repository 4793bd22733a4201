package branch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestPushSaysWhatIsMissing(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	if _, err := r.merger.Push(ctx, r.dir, "main"); !errors.Is(err, thread.ErrNotFound) ||
		!strings.Contains(err.Error(), "git remote add") {
		t.Errorf("no remote: %v", err)
	}
	r.git("remote", "add", "one", filepath.Join(r.top, "nowhere"))
	if _, err := r.merger.Push(ctx, r.dir, "main"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a remote that is not there: %v", err)
	}
	r.git("remote", "add", "two", filepath.Join(r.top, "nowhere"))
	if _, err := r.merger.Push(ctx, r.dir, "main"); !errors.Is(err, thread.ErrRefused) {
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
	if _, err := r.merger.OpenPR(ctx, r.dir, "side", "main", "t", "b"); !errors.Is(err, thread.ErrUnsupported) ||
		!strings.Contains(err.Error(), "cli.github.com") {
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
	for _, c := range []struct{ title, body, shown string }{
		{"fix \u202egpj.exe", "safe \u202etxet", "\u202e"}, {"a\u2066b\u2069", "b\u2067c", "\u2066\u2067\u2069"},
		{"a\x1b[2Jb", "c\x1b]0;x\ad", "\x1b\a"}, {"one\ntwo", "z\u200bw\u200e", "\u200b\u200e"},
	} {
		r.writeIn(bin, "gh", "#!/bin/sh\nfor a; do case $a in --title=*) printf '%s\\n' \"$a\";; esac; done >"+r.top+"/args\n"+
			"while IFS= read -r l || [ -n \"$l\" ]; do printf '%s\\n' \"$l\"; done >"+r.top+"/body\necho https://github.com/o/r/pull/7\n")
		if _, err := r.merger.OpenPR(ctx, r.dir, "side", "main", c.title, c.body); err != nil {
			t.Fatal(err)
		}
		title, body := r.read(r.top, "args"), r.read(r.top, "body")
		if strings.ContainsAny(title+body, c.shown) || strings.Count(title, "\n") != 1 {
			t.Errorf("published is %q, %q", title, body)
		}
	}
	r.writeIn(bin, "gh", "#!/bin/sh\necho 'To get started, run: gh auth login' >&2\nexit 4\n")
	if _, err := r.merger.OpenPR(ctx, r.dir, "side", "", "t", "b"); err == nil ||
		!strings.Contains(err.Error(), "gh auth login") {
		t.Errorf("not logged in: %v", err)
	}
}
