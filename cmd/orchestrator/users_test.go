package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// Two users of one group, who need no entry in the system's list of users.
const (
	firstUser, secondUser = 54321, 54322
	bothsGroup            = 54320
)

// newUsers makes two users' machines with one repository that both may write and that belongs to the first.
func newUsers(t *testing.T) (a, b *rig) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, not run: two users on one repository, which takes root")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skipf("SKIPPED, not run: two users on one repository: %v", err)
	}
	base, err := os.MkdirTemp("/var/cache", "orchestrator-test-") // all users can enter it, and it is no temporary folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	b0, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(filepath.Join(base, "orchestrator"), b0, 0o755)
	}
	if err == nil {
		err = os.Chmod(base, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	user := func(name string, uid int) *rig {
		r := &rig{t: t, home: filepath.Join(base, name), project: filepath.Join(base, "project"), patience: patience}
		run := filepath.Join(base, "run-"+name)
		for dir, mode := range map[string]os.FileMode{r.home: 0o755, run: 0o700} {
			if err := os.Mkdir(dir, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, uid, bothsGroup); err != nil {
				t.Fatal(err)
			}
		}
		r.env = []string{
			"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + run, "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=x@example.com", "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=x@example.com",
		}
		r.program = filepath.Join(base, "as-"+name)
		script := fmt.Sprintf("#!/bin/sh\numask 002\n[ \"$1\" != -as ] || { shift; exec %s --reuid=%d --regid=%d --clear-groups -- \"$@\"; }\n"+
			"exec %[1]s --reuid=%[2]d --regid=%[3]d --clear-groups -- %[4]s/orchestrator \"$@\"\n", setpriv, uid, bothsGroup, base)
		if err := os.WriteFile(r.program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			r.run("stop", "--force")
			if t.Failed() {
				logs, _ := filepath.Glob(filepath.Join(r.home, ".local/state/orchestrator/*/log/server.log"))
				for _, file := range logs {
					log, _ := os.ReadFile(file)
					t.Logf("%s:\n%s", file, tail(log, 3000))
				}
			}
		})
		return r
	}
	a, b = user("a", firstUser), user("b", secondUser)
	if err := os.Mkdir(a.project, 0o775); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(a.project, firstUser, bothsGroup); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(a.project, 0o775|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	a.as("git", "init", "-q", "-b", "main", "--shared=group")
	a.as("sh", "-c", "echo hello >README.md && git add . && git commit -qm begin")
	return a, b
}

// as runs a program as the rig's user in the project, which must end well.
func (r *rig) as(args ...string) {
	r.t.Helper()
	res := r.run(append([]string{"-as"}, args...)...)
	if res.code != 0 {
		r.t.Fatalf("%v: exit %d\n%s%s", args, res.code, res.stdout, res.stderr)
	}
}

// TestTwoUsersOneRepository has two users work in one repository at once, each with a server of their own: neither sees
// the other's threads, reaches the other's state or loses anything by the other's work.
func TestTwoUsersOneRepository(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	a, b := newUsers(t)
	first := a.demo("of a")
	a.turn(first, "write a.txt: of a")
	aFork := get[thread.Status](a, "fork", "fork of a", "-t", first)

	if res := b.run("doctor"); !strings.Contains(res.stdout+res.stderr, "safe.directory") {
		t.Errorf("git refuses the repository, and the doctor does not say what to do (exit %d):\n%s%s", res.code, res.stdout, res.stderr)
	}
	b.as("git", "config", "--global", "--add", "safe.directory", a.project)
	second := b.demo("of b")
	b.turn(second, "write b.txt: of b")
	bFork := get[thread.Status](b, "fork", "fork of b", "-t", second)
	a.turn(aFork.Name, "write more-a.txt: of a")
	b.turn(bFork.Name, "write more-b.txt: of b")
	a.turn(first, "list files")
	b.as("sh", "-c", "git add -A && git commit -qm both")

	for _, who := range []struct {
		r           *rig
		own, others string
		fork        thread.Status
	}{{a, first, second, aFork}, {b, second, first, bFork}} {
		if list := who.r.ok("threads", "--all"); !strings.Contains(list, who.own) || strings.Contains(list, who.others) {
			t.Errorf("the threads of %s:\n%s", who.r.home, list)
		}
		for _, cp := range get[[]thread.Checkpoint](who.r, "checkpoint", "list", who.fork.Name) {
			if cp.Snapshot == nil {
				t.Errorf("turn %d of %s has no files", cp.Turn, who.fork.Name)
			}
		}
		if out := who.r.ok("gc"); !strings.Contains(out, "0 thread") {
			t.Errorf("gc: %s", out)
		}
		who.r.ok("stop")
		who.r.ok("resume", who.own)
		who.r.turn(who.own, "list files")
		who.r.ok("finish", who.fork.Name)
	}
	a.cannotReach(b)
	b.cannotReach(a)
	a.as("git", "fsck", "--no-dangling")
	b.as("git", "fsck", "--no-dangling")
	if s := a.status(first); s.Turn != 3 {
		t.Errorf("a's thread is at turn %d", s.Turn)
	}
}

// cannotReach checks that a user can neither read nor use what is another's, however they name it.
func (r *rig) cannotReach(other *rig) {
	r.t.Helper()
	state := filepath.Join(other.home, ".local", "state", "orchestrator")
	seen := 0
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		seen++
		if res := r.run("-as", "ls", "-d", path); res.code == 0 && path != state {
			r.t.Errorf("%s can be seen by another user", path)
		}
		return nil
	})
	if err != nil || seen < 10 {
		r.t.Fatalf("%d files in %s: %v", seen, state, err)
	}
	for _, variable := range []string{"XDG_STATE_HOME=" + filepath.Dir(state), "XDG_RUNTIME_DIR=" + filepath.Join(filepath.Dir(other.home), "run-"+filepath.Base(other.home))} {
		thief := *r
		thief.env = append(append([]string{}, r.env...), variable)
		if strings.HasPrefix(variable, "XDG_STATE") {
			if res := thief.run("threads"); res.code == 0 || !strings.Contains(res.stderr, filepath.Dir(state)) {
				r.t.Errorf("with %s: exit %d\n%s%s", variable, res.code, res.stdout, res.stderr)
			}
			continue
		}
		if res := thief.run("threads"); strings.Contains(res.stdout, " of ") || res.code == 0 && strings.Contains(res.stdout, filepath.Base(other.home)+"-") {
			r.t.Errorf("with %s: exit %d\n%s", variable, res.code, res.stdout)
		}
	}
}
