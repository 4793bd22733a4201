package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// says checks that a call was refused with an exit code and a message that holds the words.
func (r *rig) says(code int, words []string, args ...string) {
	r.t.Helper()
	res := r.run(args...)
	if res.code != code {
		r.t.Errorf("orchestrator %q: exit %d, want %d\n%s%s", args, res.code, code, res.stdout, res.stderr)
	}
	for _, w := range words {
		if !strings.Contains(res.stderr, w) {
			r.t.Errorf("orchestrator %q does not say %q: %s", args, w, res.stderr)
		}
	}
	if strings.Contains(res.stderr, "goroutine ") || strings.Contains(res.stderr, "panic") {
		r.t.Errorf("orchestrator %q showed a panic: %s", args, res.stderr)
	}
}

func TestBadCommandLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.says(exitcode.Usage, []string{"unknown verb", "threads"}, "threds")
	r.says(exitcode.Usage, []string{"unknown flag"}, "threads", "--tre")
	r.says(exitcode.Usage, []string{"<thread>"}, "why")
	r.says(exitcode.Usage, []string{"<task>"}, "run")
	r.says(exitcode.Usage, []string{"label"}, "fork", " ")
	r.says(exitcode.Error, []string{"needs a terminal"})
	r.env = append(r.env, "TERM=dumb")
	if s := r.open(80, 24); s.end() != exitcode.Error || !strings.Contains(s.text(), "dumb") {
		t.Errorf("a dumb terminal got:\n%s", s.text())
	}
}

func TestUnknownThreads(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.ok("new", "-a", "demo", "auth feature")
	r.says(exitcode.NotFound, []string{"no thread named", name}, "why", "auth-featur-0000")
	r.says(exitcode.NotFound, []string{"no thread named"}, "send", "nothing-like-it", "hello")
	r.says(exitcode.NotFound, []string{"agent"}, "new", "-a", "klaud", "x")
	for _, odd := range []string{"--version", "-x", "../..", "a;id", "$(id)", "a\nb", strings.Repeat("x", 5000)} {
		res := r.run("why", "--", odd)
		if res.code != exitcode.NotFound && res.code != exitcode.Usage {
			t.Errorf("why %q: exit %d %s", odd, res.code, res.stderr)
		}
	}
}

// TestStartsThatCannotBe leave no thread and no worktree behind.
func TestStartsThatCannotBe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := filepath.Join(filepath.Dir(r.project), "bin") // no agent is installed there
	for _, tool := range []string{"git", "sh"} {
		real, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, filepath.Join(path, tool)); err != nil {
			t.Fatal(err)
		}
	}
	r.env = append(slices.DeleteFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+path)
	r.write(".orchestrator.toml", "limits.running = 1\n")
	r.ok("trust", "--yes")
	name := r.ok("new", "-a", "demo", "first")
	r.says(exitcode.Refused, []string{"1 agent already running", "limits.running"}, "new", "-a", "demo", "second")
	r.says(exitcode.Refused, []string{"1 agent already running"}, "fork", "other way", "-t", name)
	r.ok("stop", name)
	r.says(exitcode.NotFound, []string{"codex", "not found", "npm install"}, "new", "-a", "codex", "-w", "third")
	r.says(exitcode.NotFound, []string{"codex", "not found"}, "fork", "to codex", "-t", name, "-a", "codex")
	r.says(exitcode.Usage, []string{"no program given", "after --"}, "fork", "to a program", "-t", name, "-a", "command")
	r.says(exitcode.NotFound, []string{"nosuchprogram", "not found"}, "fork", "to a program", "-t", name, "-a", "command", "--", "nosuchprogram")
	r.says(exitcode.NotFound, []string{"nosuchprogram", "not found"}, "new", "-a", "command", "-w", "a program", "--", "nosuchprogram")
	if branches := r.git("branch", "--list", "orchestrator/*"); strings.TrimSpace(branches) != "" {
		t.Errorf("branches were left behind: %s", branches)
	}
	if all := get[[]thread.Status](r, "threads", "--all"); len(all) != 1 {
		t.Errorf("threads were left behind: %+v", all)
	}
	if trees := strings.Count(r.git("worktree", "list"), "\n"); trees != 1 {
		t.Errorf("%d worktrees, want the repository's own", trees)
	}
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ok("threads")
	put(t, filepath.Join(r.home, ".config", "orchestrator", "config.toml"), "theme = \"dark\"\ncolour = 1\n")
	r.says(exitcode.Error, []string{"config.toml:2", "colour", "theme"}, "threads")
	if res := r.run("stop"); res.code != exitcode.OK || !strings.Contains(res.stderr, "config.toml:2") {
		t.Errorf("stop said (exit %d): %s%s", res.code, res.stdout, res.stderr)
	}
	res := r.run("doctor")
	if res.code != exitcode.Error || !strings.Contains(res.stdout, "config.toml:2") {
		t.Errorf("the doctor said (exit %d):\n%s%s", res.code, res.stdout, res.stderr)
	}
}

// TestProjectConfigurationIsAcceptedWhenRight: what the project's file may not say is told before it is
// accepted, so that no verb stops at it later; until then the screen tells that it is not read.
func TestProjectConfigurationIsAcceptedWhenRight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write(".orchestrator.toml", "agent = \"demo\"\ntheme = \"dark\"\n")
	r.says(exitcode.Error, []string{"not accepted", ".orchestrator.toml:2", "theme", "your own configuration"}, "trust")
	r.write(".orchestrator.toml", "[limits]\ndepth = \"deep\"\n")
	r.says(exitcode.Error, []string{"not accepted", ".orchestrator.toml:2", "limits.depth"}, "trust")
	r.write(".orchestrator.toml", "agent = \"nobody\"\n")
	r.open(160, 30).see(".orchestrator.toml is ignored")
	r.write(".orchestrator.toml", "limits.depth = 3\n")
	r.ok("trust", "--yes")
	if out := r.ok("doctor"); !strings.Contains(out, ".orchestrator.toml") || strings.Contains(out, "not trusted") {
		t.Errorf("the doctor said:\n%s", out)
	}
}

func TestOneServerAProject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ok("threads")
	r.says(exitcode.Refused, []string{"runs already", "process"}, "serve")
	r.ok("threads")
}

// TestClientsStartOneServer has many clients come at once: to a project without a server, to one
// whose server was just killed, and to one whose server is just ending.
func TestClientsStartOneServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	come := func(why string) {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if res := r.run("threads", "--json"); res.code != 0 {
					t.Errorf("%s: exit %d: %s", why, res.code, res.stderr)
				}
			})
		}
		all.Wait()
		if got := r.servers(); len(got) > 1 { // one that is late would serve once the other one is stopped
			t.Errorf("%s: the processes %v are servers, or want to be", why, got)
		}
	}
	come("no server")
	for range 3 {
		if err := syscall.Kill(r.serverPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		come("a server that was killed")
	}
	if err := syscall.Kill(r.serverPID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await(t, "the server to leave", func() bool {
		p := r.claimed()
		_, err := os.Stat(p.Socket)
		return err != nil
	})
	come("a server that is ending")
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	// A file where the folder should be: root, who runs CI, may write everywhere else.
	put(t, filepath.Join(r.home, ".local", "state", "orchestrator"), "x")
	r.says(exitcode.Error, []string{"state folder", "move it away"}, "new", "-a", "demo", "x")
	r.says(exitcode.Error, []string{"move it away"}, "threads")
}

func TestSocketFolderOfSomebodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := filepath.Join(lookup(r.env, "XDG_RUNTIME_DIR"), "orchestrator")
	if err := errors.Join(os.MkdirAll(run, 0o700), os.Chmod(run, 0o777)); err != nil {
		t.Fatal(err)
	}
	r.says(exitcode.Error, []string{"not private to this user", run}, "threads")
}

func TestSocketLeftBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.claimed()
	put(t, p.Socket, "left behind")
	r.ok("threads")
}

func TestNoGit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := os.RemoveAll(filepath.Join(r.project, ".git")); err != nil {
		t.Fatal(err)
	}
	name := r.ok("new", "-a", "demo", "-p", "list files", "no git")
	s := r.awaitState(name, thread.StateDone, thread.StateIdle)
	if s.Turn != 1 {
		t.Errorf("turn %d after one answer", s.Turn)
	}
	r.says(exitcode.Error, []string{"git"}, "new", "-a", "demo", "-w", "with a worktree")
}

func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := r.ok("new", "-a", "demo", "-p", "list files", "kept")
	r.awaitState(name, thread.StateDone, thread.StateIdle)
	r.ok("stop")
	db := filepath.Join(r.stateDir(), "state.db")
	if err := os.WriteFile(db, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.ok("threads"); !strings.Contains(out, name) {
		t.Errorf("the thread is not listed any more:\n%s", out)
	}
	res := r.run("doctor")
	if !strings.Contains(res.stdout, "damaged") {
		t.Errorf("the doctor does not tell of the damage:\n%s", res.stdout)
	}
	aside, err := filepath.Glob(filepath.Join(filepath.Dir(db), "damaged-*", "state.db"))
	if err != nil || len(aside) == 0 {
		t.Errorf("the damaged file was not kept: %v %v", aside, err)
	}
}
