package repositories

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// Two users of one group, who need no entry in the system's list of users.
const (
	firstUser, secondUser = 54321, 54322
	bothsGroup            = 54320
)

// newUsers makes two users' machines with one repository that both may write and that belongs to the first.
func newUsers(t *testing.T) (a, b *e2e.Rig) {
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
	b0, err := os.ReadFile(e2e.Program)
	if err == nil {
		err = os.WriteFile(filepath.Join(base, "orchestrator"), b0, 0o755)
	}
	if err == nil {
		err = os.Chmod(base, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	user := func(name string, uid int) *e2e.Rig {
		r := &e2e.Rig{T: t, Home: filepath.Join(base, name), Project: filepath.Join(base, "project"), Patience: e2e.Patience}
		run := filepath.Join(base, "run-"+name)
		for dir, mode := range map[string]os.FileMode{r.Home: 0o755, run: 0o700} {
			if err := os.Mkdir(dir, mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, uid, bothsGroup); err != nil {
				t.Fatal(err)
			}
		}
		r.Env = []string{
			"HOME=" + r.Home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + run, "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=x@example.com", "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=x@example.com",
		}
		r.Program = filepath.Join(base, "as-"+name)
		script := fmt.Sprintf("#!/bin/sh\numask 002\n[ \"$1\" != -as ] || { shift; exec %s --reuid=%d --regid=%d --clear-groups -- \"$@\"; }\n"+
			"exec %[1]s --reuid=%[2]d --regid=%[3]d --clear-groups -- %[4]s/orchestrator \"$@\"\n", setpriv, uid, bothsGroup, base)
		if err := os.WriteFile(r.Program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			r.Run("stop", "--force")
			if t.Failed() {
				logs, _ := filepath.Glob(filepath.Join(r.Home, ".local/state/orchestrator/*/log/server.log"))
				for _, file := range logs {
					log, _ := os.ReadFile(file)
					t.Logf("%s:\n%s", file, e2e.Tail(log, 3000))
				}
			}
		})
		return r
	}
	a, b = user("a", firstUser), user("b", secondUser)
	if err := os.Mkdir(a.Project, 0o775); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(a.Project, firstUser, bothsGroup); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(a.Project, 0o775|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	as(a, "git", "init", "-q", "-b", "main", "--shared=group")
	as(a, "sh", "-c", "echo hello >README.md && git add . && git commit -qm begin")
	return a, b
}

// as runs a program as the rig's user in the project, which must end well.
func as(r *e2e.Rig, args ...string) {
	r.T.Helper()
	res := r.Run(append([]string{"-as"}, args...)...)
	if res.Code != 0 {
		r.T.Fatalf("%v: exit %d\n%s%s", args, res.Code, res.Stdout, res.Stderr)
	}
}

// TestTwoUsersOneRepository has two users work in one repository at once, each with a server of their own: neither sees
// the other's threads, reaches the other's state or loses anything by the other's work.
func TestTwoUsersOneRepository(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	a, b := newUsers(t)
	first := a.Demo("of a")
	a.Turn(first, "write a.txt: of a")
	aFork := e2e.Get[thread.Status](a, "fork", "fork of a", "-t", first)

	if res := b.Run("doctor"); !strings.Contains(res.Stdout+res.Stderr, "safe.directory") {
		t.Errorf("git refuses the repository, and the doctor does not say what to do (exit %d):\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	as(b, "git", "config", "--global", "--add", "safe.directory", a.Project)
	second := b.Demo("of b")
	b.Turn(second, "write b.txt: of b")
	bFork := e2e.Get[thread.Status](b, "fork", "fork of b", "-t", second)
	a.Turn(aFork.Name, "write more-a.txt: of a")
	b.Turn(bFork.Name, "write more-b.txt: of b")
	a.Turn(first, "list files")
	as(b, "sh", "-c", "git add -A && git commit -qm both")

	for _, who := range []struct {
		r           *e2e.Rig
		own, others string
		fork        thread.Status
	}{{a, first, second, aFork}, {b, second, first, bFork}} {
		if list := who.r.Ok("threads", "--all"); !strings.Contains(list, who.own) || strings.Contains(list, who.others) {
			t.Errorf("the threads of %s:\n%s", who.r.Home, list)
		}
		for _, cp := range e2e.Get[[]thread.Checkpoint](who.r, "checkpoint", "list", who.fork.Name) {
			if cp.Snapshot == nil {
				t.Errorf("turn %d of %s has no files", cp.Turn, who.fork.Name)
			}
		}
		if out := who.r.Ok("gc"); !strings.Contains(out, "0 thread") {
			t.Errorf("gc: %s", out)
		}
		who.r.Ok("stop")
		who.r.Ok("resume", who.own)
		who.r.Turn(who.own, "list files")
		who.r.Ok("finish", who.fork.Name)
	}
	cannotReach(a, b)
	cannotReach(b, a)
	as(a, "git", "fsck", "--no-dangling")
	as(b, "git", "fsck", "--no-dangling")
	if s := a.Status(first); s.Turn != 3 {
		t.Errorf("a's thread is at turn %d", s.Turn)
	}
}

// cannotReach checks that a user can neither read nor use what is another's, however they name it.
func cannotReach(r *e2e.Rig, other *e2e.Rig) {
	r.T.Helper()
	state := filepath.Join(other.Home, ".local", "state", "orchestrator")
	seen := 0
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		seen++
		if res := r.Run("-as", "ls", "-d", path); res.Code == 0 && path != state {
			r.T.Errorf("%s can be seen by another user", path)
		}
		return nil
	})
	if err != nil || seen < 10 {
		r.T.Fatalf("%d files in %s: %v", seen, state, err)
	}
	for _, variable := range []string{"XDG_STATE_HOME=" + filepath.Dir(state), "XDG_RUNTIME_DIR=" + filepath.Join(filepath.Dir(other.Home), "run-"+filepath.Base(other.Home))} {
		thief := *r
		thief.Env = append(append([]string{}, r.Env...), variable)
		if strings.HasPrefix(variable, "XDG_STATE") {
			if res := thief.Run("threads"); res.Code == 0 || !strings.Contains(res.Stderr, filepath.Dir(state)) {
				r.T.Errorf("with %s: exit %d\n%s%s", variable, res.Code, res.Stdout, res.Stderr)
			}
			continue
		}
		if res := thief.Run("threads"); strings.Contains(res.Stdout, " of ") || res.Code == 0 && strings.Contains(res.Stdout, filepath.Base(other.Home)+"-") {
			r.T.Errorf("with %s: exit %d\n%s", variable, res.Code, res.Stdout)
		}
	}
}
