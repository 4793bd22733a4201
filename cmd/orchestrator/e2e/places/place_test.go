package places

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
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// in is the same person in another folder.
func in(r *e2e.Rig, dir string) *e2e.Rig {
	other := *r
	other.Project = dir
	return &other
}

// TestMovedWhileItRuns moves a project under its server: the server notices, the new place says what to do, and after
// that its threads go on there.
func TestMovedWhileItRuns(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("moved along")
	r.Turn(name, "write notes.txt: one")
	log := filepath.Join(r.StateDir(), "log", "server.log")
	there := in(r, r.Project+"-there")
	t.Cleanup(func() {
		if _, err := os.Lstat(there.Project); err == nil {
			there.Run("stop", "--force")
			r.Project = there.Project
		}
	})
	if err := os.Rename(r.Project, there.Project); err != nil {
		t.Fatal(err)
	}
	there.Says(exitcode.Refused, []string{"moved while its server runs", "orchestrator stop"}, "threads")
	e2e.Await(t, "the server to notice", func() bool {
		b, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(b), "the project has been moved or removed")
	})
	there.Says(exitcode.Refused, []string{"moved while its server runs", "orchestrator stop"}, "threads")
	there.Ok("stop")
	res := there.Run("threads")
	if res.Code != 0 || !strings.Contains(res.Stdout, name) || !strings.Contains(res.Stderr, "moved from "+r.Project) {
		t.Errorf("in the new place: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	if res := there.Run("threads"); res.Stderr != "" {
		t.Errorf("told twice: %s", res.Stderr)
	}
	if s := there.Status(name); s.Dir != there.Project {
		t.Errorf("the thread works in %s", s.Dir)
	}
	there.Ok("resume", name)
	there.Turn(name, "write more.txt: two")
	if got := there.Read("more.txt"); !strings.Contains(got, "two") {
		t.Errorf("more.txt is %q", got)
	}
	if _, err := os.Lstat(r.Project); err == nil {
		t.Error("something was made where the project was")
	}
	// Without an agent the server makes way by itself.
	there.Ok("stop", name)
	if err := os.Rename(there.Project, r.Project); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "the server to make way", func() bool { return r.Run("threads").Code == 0 })
	if s := r.Status(name); s.Dir != r.Project || s.Turn != 2 {
		t.Errorf("back again: turn %d in %s", s.Turn, s.Dir)
	}
}

// TestCopiedWhileItRuns: a copy has no threads, and its server leaves the original's alone.
func TestCopiedWhileItRuns(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("original")
	r.Turn(name, "write notes.txt: one")
	fork := e2e.Get[thread.Status](r, "fork", "more", "-t", name)
	copied := in(r, r.Project+"-copy")
	t.Cleanup(func() { copied.Run("stop", "--force") })
	if err := os.CopyFS(copied.Project, os.DirFS(r.Project)); err != nil {
		t.Fatal(err)
	}
	refs := copied.Git("for-each-ref", "refs/orchestrator") // the original goes on taking snapshots
	res := copied.Run("threads", "--json")
	if res.Code != 0 || !strings.Contains(res.Stderr, "copy of "+r.Project) || strings.Contains(res.Stdout, name) {
		t.Errorf("the copy: exit %d\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
	if copied.ServerPID() == r.ServerPID() {
		t.Error("the copy talks to the original's server")
	}
	if got := copied.Git("for-each-ref", "refs/orchestrator"); got != refs {
		t.Errorf("the refs that the copy carries were changed:\n%s\nwere\n%s", got, refs)
	}
	r.Turn(fork.Name, "write more.txt: two")
	if b, err := os.ReadFile(filepath.Join(fork.Worktree.Path, "more.txt")); err != nil || !strings.Contains(string(b), "two") {
		t.Errorf("the original's fork after the copy: %q %v", b, err)
	}
	mine := copied.Demo("mine")
	copied.Turn(mine, "write notes.txt: mine")
	own := e2e.Get[thread.Status](copied, "fork", "mine too", "-t", mine)
	if own.Worktree.Path == "" || own.Worktree.Path == fork.Worktree.Path {
		t.Errorf("the copy's fork works in %q", own.Worktree.Path)
	}
	if names := e2e.Get[[]thread.Status](r, "threads", "--all"); len(names) != 2 {
		t.Errorf("the original has %d threads", len(names))
	}
}

// TestHomeAsProject: it is asked about first.
func TestHomeAsProject(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	t.Cleanup(func() { r.Run("stop", "--force") })
	home := in(r, r.Home)
	home.Says(exitcode.Refused, []string{"your home folder", "could write orchestrator's own state", "trust --folder"}, "threads")
	s := home.Open(100, 30, "threads")
	s.See("(y/n)")
	s.Press("n\n")
	if code := s.End(); code != exitcode.Refused {
		t.Errorf("refused: exit %d\n%s", code, s.Text())
	}
	s = home.Open(100, 30, "threads")
	s.See("(y/n)")
	s.Press("y\n")
	if code := s.End(); code != 0 {
		t.Errorf("accepted: exit %d\n%s", code, s.Text())
	}
	home.Ok("threads")
	home.Ok("stop")
	in(r, "/").Says(exitcode.Refused, []string{"whole file system", "trust --folder"}, "threads")
}

// TestStateBelowATemporaryFolder is refused before anything is made.
func TestStateBelowATemporaryFolder(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	temp := t.TempDir()
	r.Env = append(r.Env, "XDG_STATE_HOME="+filepath.Join(temp, "state"))
	for _, verb := range [][]string{{"threads"}, {"new", "-a", "demo", "x"}, {"serve"}, {"adopt"}, {"trust", "--folder"}} {
		r.Says(exitcode.Refused, []string{"temporary folder", "XDG_STATE_HOME"}, verb...)
	}
	if res := r.Run("doctor"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "temporary folder") {
		t.Errorf("the doctor said (exit %d):\n%s", res.Code, res.Stdout)
	}
	if list, err := os.ReadDir(temp); err != nil || len(list) != 0 {
		t.Errorf("made all the same: %v %v", list, err)
	}
	// Without a folder for sockets the socket lies below the state, not below a temporary folder.
	r.Env = slices.DeleteFunc(r.Env, func(kv string) bool {
		return strings.HasPrefix(kv, "XDG_STATE_HOME=") || strings.HasPrefix(kv, "XDG_RUNTIME_DIR=")
	})
	r.Ok("threads")
	if p := r.Claimed(); filepath.Dir(p.Socket) != filepath.Join(r.Home, ".local/state/orchestrator/run") {
		t.Errorf("the socket is %s", p.Socket)
	}
}

// TestAdopt goes on with the threads of a project that was moved to another disk, which looks like a copy.
func TestAdopt(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("adopted")
	r.Turn(name, "write notes.txt: one")
	r.Ok("stop")
	there := in(r, r.Project+"-there")
	t.Cleanup(func() { there.Run("stop", "--force") })
	if err := os.CopyFS(there.Project, os.DirFS(r.Project)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.Project); err != nil {
		t.Fatal(err)
	}
	r.Project = there.Project // for what ends the test
	there.Says(exitcode.Refused, []string{"not clear", "which is not there now", "orchestrator adopt", "adopt --new"}, "threads")
	if res := there.Run("doctor"); res.Code != exitcode.Error || !strings.Contains(res.Stdout, "orchestrator adopt") {
		t.Errorf("the doctor said (exit %d):\n%s", res.Code, res.Stdout)
	}
	there.Says(exitcode.NotFound, []string{"no state is called", "project-"}, "adopt", "nobody-00000000")
	if out := there.Ok("adopt"); !strings.Contains(out, there.Project) {
		t.Errorf("adopt said %s", out)
	}
	if s := there.Status(name); s.Turn != 1 || s.Dir != there.Project {
		t.Errorf("adopted: turn %d in %s", s.Turn, s.Dir)
	}
	there.Says(exitcode.Usage, []string{"nothing to decide"}, "adopt", "--new")
}

// TestForeignRepositoryIsNamed: what git refuses because of its owner is said with the way out.
func TestForeignRepositoryIsNamed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: it gives a repository to another user, which takes root")
	}
	t.Parallel()
	r := e2e.NewRig(t)
	err := filepath.WalkDir(r.Project, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, 12345, 12345)
	})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"belongs to another user", "git config --global --add safe.directory " + r.Project}
	res := r.Run("threads")
	for _, w := range words {
		if res.Code != 0 || !strings.Contains(res.Stderr, w) {
			t.Errorf("threads (exit %d) does not say %q: %s", res.Code, w, res.Stderr)
		}
	}
	out := r.Ok("doctor")
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("the doctor does not say %q:\n%s", w, out)
		}
	}
	r.Open(200, 40).See("belongs to another user")
	if _, err := os.Lstat(filepath.Join(r.Project, ".git", "orchestrator-id")); err == nil {
		t.Error("written into somebody else's repository")
	}
}

// TestOddThreadIDs: a stored thread whose id leads elsewhere is named and left alone; the rest goes on.
func TestOddThreadIDs(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("sound")
	r.Ok("stop")
	victim := filepath.Join(r.Home, "Doc2")
	e2e.Put(t, filepath.Join(victim, "thesis.txt"), "years of work")
	id, err := filepath.Rel(filepath.Join(r.StateDir(), "threads"), victim)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(r.StateDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-60 * 24 * time.Hour)
	err = s.CreateThread(t.Context(), thread.Thread{ID: thread.ID(id), Name: "odd-00aa", Agent: "demo", Dir: r.Project, Created: long})
	rest := s.CreateThread(t.Context(), thread.Thread{ID: thread.ID(id + "/"), Name: "odd-00bb", Agent: "demo", Dir: r.Project, Created: long, Deleted: long})
	if err = errors.Join(err, rest, s.Close()); err != nil {
		t.Fatal(err)
	}
	if list := r.Ok("threads", "--all"); !strings.Contains(list, name) || strings.Contains(list, "odd-00") {
		t.Errorf("listed:\n%s", list)
	}
	if res := r.Run("doctor"); !strings.Contains(res.Stdout, "odd-00aa") || !strings.Contains(res.Stdout, "skipped stored thread") {
		t.Errorf("the doctor said:\n%s", res.Stdout)
	}
	r.Run("gc")
	for _, name := range []string{"odd-00aa", "odd-00bb"} {
		r.Run("delete", name)
		r.Run("restore", name)
		r.Run("resume", name)
	}
	r.Run("gc")
	if _, err := os.Stat(filepath.Join(victim, "thesis.txt")); err != nil {
		t.Error(err)
	}
}

// TestFolderOfAnOlderBuild is named while a project has no threads. Nothing of it is read, whatever it is.
func TestFolderOfAnOlderBuild(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	const said = ".orchestrator/ of an older build lies here"
	old := filepath.Join(r.Project, ".orchestrator")
	for _, dir := range []string{old, filepath.Join(old, "state.db")} { // whoever opened it as a file would fail
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(old, "lock"), 0o600); err != nil { // and wait for ever here
		t.Fatal(err)
	}
	if out := r.Run("threads"); out.Code != exitcode.OK || strings.Count(out.Stderr, said) != 1 {
		t.Errorf("threads: %d, %q", out.Code, out.Stderr)
	}
	if out := r.Run("doctor"); strings.Count(out.Stdout, said) != 1 {
		t.Errorf("doctor: %s", out.Stdout)
	}
	r.Demo("one")
	r.Ok("stop")
	if out := r.Run("threads"); strings.Contains(out.Stderr, said) {
		t.Errorf("with threads of its own: %q", out.Stderr)
	}
}

// TestRestartAsks on a terminal before it cuts off a turn, and a script is not asked.
func TestRestartAsks(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("busy")
	asks := func(answer string) {
		t.Helper()
		s := r.Open(100, 30, "restart")
		s.See("1 agent at work: " + name)
		s.Press(answer + "\r")
		<-s.Done
	}
	r.Ok("send", "-d", name, "#slow:600s list files")
	r.AwaitState(name, thread.StateWorking, thread.StateSilent)
	before := r.Servers()
	asks("n")
	if after := r.Servers(); !slices.Equal(before, after) {
		t.Errorf("servers %v, before %v", after, before)
	}
	asks("y")
	if after := r.Servers(); slices.Equal(before, after) {
		t.Errorf("it was not restarted: %v", after)
	}
}
