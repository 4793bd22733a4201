package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/checkpoint/sqlite"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// in is the same person in another folder.
func (r *rig) in(dir string) *rig {
	other := *r
	other.project = dir
	return &other
}

// TestMovedWhileItRuns moves a project under its server: the server notices, the new place says what to do, and after
// that its threads go on there.
func TestMovedWhileItRuns(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("moved along")
	r.turn(name, "write notes.txt: one")
	log := filepath.Join(r.stateDir(), "log", "server.log")
	there := r.in(r.project + "-there")
	t.Cleanup(func() {
		if _, err := os.Lstat(there.project); err == nil {
			there.run("stop", "--force")
			r.project = there.project
		}
	})
	if err := os.Rename(r.project, there.project); err != nil {
		t.Fatal(err)
	}
	there.says(exitcode.Refused, []string{"moved while its server runs", "orchestrator stop"}, "threads")
	await(t, "the server to notice", func() bool {
		b, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(b), "the project has been moved or removed")
	})
	there.says(exitcode.Refused, []string{"moved while its server runs", "orchestrator stop"}, "threads")
	there.ok("stop")
	res := there.run("threads")
	if res.code != 0 || !strings.Contains(res.stdout, name) || !strings.Contains(res.stderr, "moved from "+r.project) {
		t.Errorf("in the new place: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	if res := there.run("threads"); res.stderr != "" {
		t.Errorf("told twice: %s", res.stderr)
	}
	if s := there.status(name); s.Dir != there.project {
		t.Errorf("the thread works in %s", s.Dir)
	}
	there.ok("resume", name)
	there.turn(name, "write more.txt: two")
	if got := there.read("more.txt"); !strings.Contains(got, "two") {
		t.Errorf("more.txt is %q", got)
	}
	if _, err := os.Lstat(r.project); err == nil {
		t.Error("something was made where the project was")
	}
	// Without an agent the server makes way by itself.
	there.ok("stop", name)
	if err := os.Rename(there.project, r.project); err != nil {
		t.Fatal(err)
	}
	await(t, "the server to make way", func() bool { return r.run("threads").code == 0 })
	if s := r.status(name); s.Dir != r.project || s.Turn != 2 {
		t.Errorf("back again: turn %d in %s", s.Turn, s.Dir)
	}
}

// TestCopiedWhileItRuns: a copy has no threads, and its server leaves the original's alone.
func TestCopiedWhileItRuns(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("original")
	r.turn(name, "write notes.txt: one")
	fork := get[thread.Status](r, "fork", "more", "-t", name)
	refs := r.git("for-each-ref", "refs/orchestrator")
	copied := r.in(r.project + "-copy")
	t.Cleanup(func() { copied.run("stop", "--force") })
	if err := os.CopyFS(copied.project, os.DirFS(r.project)); err != nil {
		t.Fatal(err)
	}
	res := copied.run("threads", "--json")
	if res.code != 0 || !strings.Contains(res.stderr, "copy of "+r.project) || strings.Contains(res.stdout, name) {
		t.Errorf("the copy: exit %d\n%s%s", res.code, res.stdout, res.stderr)
	}
	if copied.serverPID() == r.serverPID() {
		t.Error("the copy talks to the original's server")
	}
	if got := copied.git("for-each-ref", "refs/orchestrator"); got != refs {
		t.Errorf("the refs that the copy carries were changed:\n%s\nwere\n%s", got, refs)
	}
	r.turn(fork.Name, "write more.txt: two")
	if b, err := os.ReadFile(filepath.Join(fork.Worktree.Path, "more.txt")); err != nil || !strings.Contains(string(b), "two") {
		t.Errorf("the original's fork after the copy: %q %v", b, err)
	}
	mine := copied.demo("mine")
	copied.turn(mine, "write notes.txt: mine")
	own := get[thread.Status](copied, "fork", "mine too", "-t", mine)
	if own.Worktree.Path == "" || own.Worktree.Path == fork.Worktree.Path {
		t.Errorf("the copy's fork works in %q", own.Worktree.Path)
	}
	if names := get[[]thread.Status](r, "threads", "--all"); len(names) != 2 {
		t.Errorf("the original has %d threads", len(names))
	}
}

// TestHomeAsProject: it is asked about first.
func TestHomeAsProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	t.Cleanup(func() { r.run("stop", "--force") })
	home := r.in(r.home)
	home.says(exitcode.Refused, []string{"your home folder", "could write orchestrator's own state", "trust --folder"}, "threads")
	s := home.open(100, 30, "threads")
	s.see("(y/n)")
	s.press("n\n")
	if code := s.end(); code != exitcode.Refused {
		t.Errorf("refused: exit %d\n%s", code, s.text())
	}
	s = home.open(100, 30, "threads")
	s.see("(y/n)")
	s.press("y\n")
	if code := s.end(); code != 0 {
		t.Errorf("accepted: exit %d\n%s", code, s.text())
	}
	home.ok("threads")
	home.ok("stop")
	r.in("/").says(exitcode.Refused, []string{"whole file system", "trust --folder"}, "threads")
}

// TestStateBelowATemporaryFolder is refused before anything is made.
func TestStateBelowATemporaryFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	temp := t.TempDir()
	r.env = append(r.env, "XDG_STATE_HOME="+filepath.Join(temp, "state"))
	for _, verb := range [][]string{{"threads"}, {"new", "-a", "demo", "x"}, {"serve"}, {"adopt"}, {"trust", "--folder"}} {
		r.says(exitcode.Refused, []string{"temporary folder", "XDG_STATE_HOME"}, verb...)
	}
	if res := r.run("doctor"); res.code != exitcode.Error || !strings.Contains(res.stdout, "temporary folder") {
		t.Errorf("the doctor said (exit %d):\n%s", res.code, res.stdout)
	}
	if list, err := os.ReadDir(temp); err != nil || len(list) != 0 {
		t.Errorf("made all the same: %v %v", list, err)
	}
	// Without a folder for sockets the socket lies below the state, not below a temporary folder.
	r.env = slices.DeleteFunc(r.env, func(kv string) bool {
		return strings.HasPrefix(kv, "XDG_STATE_HOME=") || strings.HasPrefix(kv, "XDG_RUNTIME_DIR=")
	})
	r.ok("threads")
	if p := r.claimed(); filepath.Dir(p.Socket) != filepath.Join(r.home, ".local/state/orchestrator/run") {
		t.Errorf("the socket is %s", p.Socket)
	}
}

// TestAdopt goes on with the threads of a project that was moved to another disk, which looks like a copy.
func TestAdopt(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	name := r.demo("adopted")
	r.turn(name, "write notes.txt: one")
	r.ok("stop")
	there := r.in(r.project + "-there")
	t.Cleanup(func() { there.run("stop", "--force") })
	if err := os.CopyFS(there.project, os.DirFS(r.project)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.project); err != nil {
		t.Fatal(err)
	}
	r.project = there.project // for what ends the test
	there.says(exitcode.Refused, []string{"not clear", "which is not there now", "orchestrator adopt", "adopt --new"}, "threads")
	if res := there.run("doctor"); res.code != exitcode.Error || !strings.Contains(res.stdout, "orchestrator adopt") {
		t.Errorf("the doctor said (exit %d):\n%s", res.code, res.stdout)
	}
	there.says(exitcode.NotFound, []string{"no state is called", "project-"}, "adopt", "nobody-00000000")
	if out := there.ok("adopt"); !strings.Contains(out, there.project) {
		t.Errorf("adopt said %s", out)
	}
	if s := there.status(name); s.Turn != 1 || s.Dir != there.project {
		t.Errorf("adopted: turn %d in %s", s.Turn, s.Dir)
	}
	there.says(exitcode.Usage, []string{"nothing to decide"}, "adopt", "--new")
}

// TestForeignRepositoryIsNamed: what git refuses because of its owner is said with the way out.
func TestForeignRepositoryIsNamed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: it gives a repository to another user, which takes root")
	}
	t.Parallel()
	r := newRig(t)
	err := filepath.WalkDir(r.project, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 12345, 12345)
	})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"belongs to another user", "git config --global --add safe.directory " + r.project}
	res := r.run("threads")
	for _, w := range words {
		if res.code != 0 || !strings.Contains(res.stderr, w) {
			t.Errorf("threads (exit %d) does not say %q: %s", res.code, w, res.stderr)
		}
	}
	out := r.ok("doctor")
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("the doctor does not say %q:\n%s", w, out)
		}
	}
	r.open(200, 40).see("belongs to another user")
	if _, err := os.Lstat(filepath.Join(r.project, ".git", "orchestrator-id")); err == nil {
		t.Error("written into somebody else's repository")
	}
}

// TestOddThreadIDs: a stored thread whose id leads elsewhere is named and left alone; the rest goes on.
func TestOddThreadIDs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("sound")
	r.ok("stop")
	victim := filepath.Join(r.home, "Doc2")
	put(t, filepath.Join(victim, "thesis.txt"), "years of work")
	id, err := filepath.Rel(filepath.Join(r.stateDir(), "threads"), victim)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(r.stateDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-60 * 24 * time.Hour)
	err = s.CreateThread(t.Context(), thread.Thread{ID: thread.ID(id), Name: "odd-00aa", Agent: "demo", Dir: r.project, Created: long, Deleted: long})
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if list := r.ok("threads", "--all"); !strings.Contains(list, name) || strings.Contains(list, "odd-00aa") {
		t.Errorf("listed:\n%s", list)
	}
	if res := r.run("doctor"); !strings.Contains(res.stdout, "odd-00aa") || !strings.Contains(res.stdout, "skipped stored thread") {
		t.Errorf("the doctor said:\n%s", res.stdout)
	}
	r.run("gc")
	r.run("delete", "odd-00aa")
	r.run("resume", "odd-00aa")
	if _, err := os.Stat(filepath.Join(victim, "thesis.txt")); err != nil {
		t.Error(err)
	}
}

// TestFolderOfAnOlderBuild is named while a project has no threads. Nothing of it is read, whatever it is.
func TestFolderOfAnOlderBuild(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const said = ".orchestrator/ of an older build lies here"
	old := filepath.Join(r.project, ".orchestrator")
	for _, dir := range []string{old, filepath.Join(old, "state.db")} { // whoever opened it as a file would fail
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(old, "lock"), 0o600); err != nil { // and wait for ever here
		t.Fatal(err)
	}
	if out := r.run("threads"); out.code != exitcode.OK || strings.Count(out.stderr, said) != 1 {
		t.Errorf("threads: %d, %q", out.code, out.stderr)
	}
	if out := r.run("doctor"); strings.Count(out.stdout, said) != 1 {
		t.Errorf("doctor: %s", out.stdout)
	}
	r.demo("one")
	r.ok("stop")
	if out := r.run("threads"); strings.Contains(out.stderr, said) {
		t.Errorf("with threads of its own: %q", out.stderr)
	}
}

// TestRestartAsks on a terminal before it cuts off a turn, and a script is not asked.
func TestRestartAsks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.demo("busy")
	asks := func(answer string) {
		t.Helper()
		s := r.open(100, 30, "restart")
		s.see("1 agent at work: " + name)
		s.press(answer + "\r")
		<-s.done
	}
	r.ok("send", "-d", name, "#slow:600s list files")
	r.awaitState(name, thread.StateWorking, thread.StateSilent)
	before := r.servers()
	asks("n")
	if after := r.servers(); !slices.Equal(before, after) {
		t.Errorf("servers %v, before %v", after, before)
	}
	asks("y")
	if after := r.servers(); slices.Equal(before, after) {
		t.Errorf("it was not restarted: %v", after)
	}
}
