package verbs

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

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

func TestBadCommandLines(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Says(exitcode.Usage, []string{"unknown verb", "threads"}, "threds")
	r.Says(exitcode.Usage, []string{"no option --tre. Did you mean --tree?"}, "threads", "--tre")
	r.Says(exitcode.Usage, []string{"why needs a thread"}, "why")
	r.Says(exitcode.Usage, []string{"run needs a task"}, "run")
	r.Says(exitcode.Usage, []string{"label"}, "fork", " ")
	r.Says(exitcode.Error, []string{"needs a terminal"})
	r.Env = append(r.Env, "TERM=dumb")
	if s := r.Open(80, 24); s.End() != exitcode.Error || !strings.Contains(s.Text(), "dumb") {
		t.Errorf("a dumb terminal got:\n%s", s.Text())
	}
}

// TestErrorsSayWhatToDo provokes errors and reads them as a person does: what is wrong, and what to do.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	auth := r.Ok("new", "-a", "demo", "auth feature")
	r.Write("keep.tar", "mine")
	fork := strings.TrimSpace(strings.SplitN(r.Ok("fork", "try jwt", "-t", auth, "--no-start"), " ", 2)[0])
	for _, row := range []struct {
		code int
		said string
		args []string
	}{
		{exitcode.Refused, "merge " + auth + ": nothing to merge: it works in " + r.Project + " itself", []string{"merge", auth}},
		{exitcode.Refused, "finish " + auth + ": nothing to merge: it works in " + r.Project + " itself", []string{"finish", auth}},
		{exitcode.Refused, auth + " has no worktree to set up", []string{"setup", auth}},
		{exitcode.NotFound, "open a pull request for " + fork + ": no git remote. Add one: git remote add origin URL", []string{"pr", fork}},
		{exitcode.NotFound, "push " + fork + ": no git remote. Add one: git remote add origin URL", []string{"push", fork}},
		{exitcode.Usage, "fork needs a label: orchestrator fork \"try jwt\" -t THREAD", []string{"fork"}},
		{exitcode.Usage, "archive needs a thread: orchestrator archive THREAD", []string{"archive"}},
		{exitcode.Usage, "send needs a text: orchestrator send THREAD \"TEXT\"", []string{"send", auth}},
		{exitcode.Usage, "send takes a thread and a text, not 4 arguments: orchestrator send THREAD \"TEXT\". Put text with spaces in quotes",
			[]string{"send", auth, "fix", "the", "bug"}},
		{exitcode.Usage, "prompts edit needs a prompt: orchestrator prompts edit PROMPT \"TEXT\"", []string{"prompts", "edit"}},
		{exitcode.Usage, "threads takes no argument: orchestrator threads", []string{"threads", "x"}},
		{exitcode.Usage, "run needs a task: orchestrator run -a AGENT \"fix the failing test\"", []string{"run"}},
		{exitcode.NotFound, "cancel prompt: there is no prompt p999. List them with `orchestrator prompts`", []string{"prompts", "cancel", "p999"}},
		{exitcode.Error, "cannot write /nonexist/x: there is no folder /nonexist", []string{"backup", "/nonexist/x"}},
		{exitcode.Error, r.Project + "/keep.tar: file already exists. Choose another name", []string{"backup", "keep.tar"}},
		{exitcode.Usage, "import /etc/passwd: not an orchestrator export", []string{"import", "/etc/passwd"}},
		{exitcode.NotFound, "import: no file /nonexist", []string{"import", "/nonexist"}},
		{exitcode.Usage, "restore /etc/passwd: not an orchestrator backup, or cut off", []string{"restore-backup", "/etc/passwd"}},
		{exitcode.NotFound, "restore: no file /nonexist", []string{"restore-backup", "/nonexist"}},
		{exitcode.Usage, "--ttl foo: use a time such as 30m", []string{"stage", "--ttl", "foo"}},
		{exitcode.Usage, "--timeout 1x: use a time such as 30m", []string{"run", "--timeout", "1x", "x"}},
		{exitcode.Usage, "--limit few: use a whole number such as 20", []string{"find", "--limit", "few", "x"}},
		{exitcode.Usage, "--thread needs a value: orchestrator fork --thread VALUE", []string{"fork", "x", "--thread"}},
		{exitcode.Usage, "no option --tre. Did you mean --tree?", []string{"threads", "--tre"}},
		{exitcode.Usage, "no option -x. `orchestrator threads --help` lists them", []string{"threads", "-x"}},
		{exitcode.Usage, "--by zz: use agent, model, thread or session", []string{"cost", "--by", "zz"}},
		{exitcode.NotFound, "nothing to trust: no .orchestrator.toml here", []string{"trust"}},
		{exitcode.Usage, "which threads? orchestrator adopt STATE, which is one of: ", []string{"adopt"}},
		{exitcode.NotFound, "no thread named \"nothere\". `orchestrator threads` lists them", []string{"send", "nothere", "hi"}},
		{exitcode.NotFound, "no thread named \"zz\". `orchestrator threads` lists them", []string{"mcp", "list", "--thread", "zz"}},
		{exitcode.NotFound, "no thread named \"auth-faeture\". Did you mean " + auth + "?", []string{"why", "auth-faeture"}},
		{exitcode.Usage, "a name needs a letter or digit, of any script", []string{"rename", auth, ""}},
		{exitcode.Refused, "restore " + auth + ": it is not archived. To take back turns of it, run", []string{"restore", auth}},
		{exitcode.Usage, "no help on \"nope\"; `orchestrator help` lists verbs and topics", []string{"help", "nope"}},
		{exitcode.Usage, "unknown verb \"threds\". Did you mean threads?", []string{"threds"}},
		{exitcode.Usage, "mcp needs a verb: orchestrator mcp approve|call|", []string{"mcp"}},
		{exitcode.Usage, "which thread? --thread THREAD", []string{"mcp", "enable", "nope"}},
		{exitcode.NotFound, "no MCP servers are configured. Add them to .mcp.json", []string{"mcp", "enable", "nope", "--thread", auth}},
		{exitcode.NotFound, "new thread: no agent \"klaude\". Did you mean claude?", []string{"new", "-a", "klaude", "x"}},
		{exitcode.Refused, auth + " asks nothing that can be answered from here", []string{"approve", auth}},
		{exitcode.Error, "the screen needs a terminal. Verbs work without one: `orchestrator --help`", []string{"attach", auth}},
	} {
		r.Says(row.code, []string{"orchestrator: " + row.said}, row.args...)
		r.NotSays([]string{": invalid", "not possible now", "strconv", "time: ", "such file"}, row.args...)
	}
	r.Write(".mcp.json", `{"mcpServers":{"files":{"command":"/bin/cat"},"broken":{"command":"/no/such/server"}}}`)
	e2e.Await(t, "the servers to be found", func() bool { return r.Run("mcp", "show", "files").Code == exitcode.OK })
	r.Says(exitcode.Refused, []string{"no terminal to ask on. Read it above, then pass --hash "}, "mcp", "approve", "files")
	r.Says(exitcode.Refused, []string{"approve files: it has changed since you looked. See it: `orchestrator mcp show files`"}, "mcp", "approve", "files", "--hash", "x")
	r.Says(exitcode.NotFound, []string{"no MCP server \"fils\". Did you mean files?"}, "mcp", "enable", "fils", "--thread", auth)
	r.Ok("mcp", "approve", "broken", "--hash", e2e.Get[thread.MCPDetail](r, "mcp", "show", "broken").Hash)
	r.Says(exitcode.Refused, []string{"switch on broken: it cannot start: /no/such/server is not a program. Install it"}, "mcp", "enable", "broken", "--thread", auth)
	r.Says(exitcode.Refused, []string{"is not sent yet: ", ". It goes when the agent is ready; withdraw it: `orchestrator prompts cancel p"},
		"run", "--timeout", "1ms", "-a", "demo", "-w", "hello")
	own := filepath.Join(r.Home, ".config", "orchestrator", "config.toml")
	e2e.Put(t, own, "agnet = \"demo\"\n")
	r.Says(exitcode.Error, []string{"config.toml:1:1: no setting \"agnet\". Did you mean agent?"}, "threads")
	e2e.Put(t, own, "[keys]\nfrok = \"F\"\nzzzz = \"ctrl+y\"\n")
	r.Says(exitcode.Error, []string{"no action \"frok\". Did you mean fork?",
		"no action \"zzzz\". All: `orchestrator help keys`"}, "threads")
}

func TestUnknownThreads(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "auth feature")
	r.Says(exitcode.NotFound, []string{"no thread named", name}, "why", "auth-featur-0000")
	r.Says(exitcode.NotFound, []string{"no thread named"}, "send", "nothing-like-it", "hello")
	r.Says(exitcode.NotFound, []string{"agent"}, "new", "-a", "klaud", "x")
	for _, odd := range []string{"--version", "-x", "../..", "a;id", "$(id)", "a\nb", strings.Repeat("x", 5000)} {
		res := r.Run("why", "--", odd)
		if res.Code != exitcode.NotFound && res.Code != exitcode.Usage {
			t.Errorf("why %q: exit %d %s", odd, res.Code, res.Stderr)
		}
	}
}

// TestStartsThatCannotBe leave no thread and no worktree behind.
func TestStartsThatCannotBe(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	path := filepath.Join(filepath.Dir(r.Project), "bin") // no agent is installed there
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
	r.Env = append(slices.DeleteFunc(r.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+path)
	r.Write(".orchestrator.toml", "limits.running = 1\n")
	r.Ok("trust", "--yes")
	name := r.Ok("new", "-a", "demo", "first")
	r.Says(exitcode.Refused, []string{"1 agent already running", "limits.running"}, "new", "-a", "demo", "second")
	r.Says(exitcode.Refused, []string{"1 agent already running"}, "fork", "other way", "-t", name)
	r.Ok("stop", name)
	r.Says(exitcode.NotFound, []string{"codex", "not found", "npm install"}, "new", "-a", "codex", "-w", "third")
	r.Says(exitcode.NotFound, []string{"codex", "not found"}, "fork", "to codex", "-t", name, "-a", "codex")
	r.Says(exitcode.Usage, []string{"no program given", "after --"}, "fork", "to a program", "-t", name, "-a", "command")
	r.Says(exitcode.NotFound, []string{"nosuchprogram", "not found"}, "fork", "to a program", "-t", name, "-a", "command", "--", "nosuchprogram")
	r.Says(exitcode.NotFound, []string{"nosuchprogram", "not found"}, "new", "-a", "command", "-w", "a program", "--", "nosuchprogram")
	if branches := r.Git("branch", "--list", "orchestrator/*"); strings.TrimSpace(branches) != "" {
		t.Errorf("branches were left behind: %s", branches)
	}
	if all := e2e.Get[[]thread.Status](r, "threads", "--all"); len(all) != 1 {
		t.Errorf("threads were left behind: %+v", all)
	}
	if trees := strings.Count(r.Git("worktree", "list"), "\n"); trees != 1 {
		t.Errorf("%d worktrees, want the repository's own", trees)
	}
}

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads")
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "theme = \"dark\"\ncolour = 1\n")
	r.Says(exitcode.Error, []string{"config.toml:2", "colour", "help settings"}, "threads")
	if res := r.Run("stop"); res.Code != exitcode.OK || !strings.Contains(res.Stderr, "config.toml:2") {
		t.Errorf("stop said (exit %d): %s%s", res.Code, res.Stdout, res.Stderr)
	}
	res := r.Run("doctor")
	if res.Code != exitcode.Error || !strings.Contains(res.Stdout, "config.toml:2") {
		t.Errorf("the doctor said (exit %d):\n%s%s", res.Code, res.Stdout, res.Stderr)
	}
}

// TestProjectConfigurationIsAcceptedWhenRight: what the project's file may not say is told before it is
// accepted, so that no verb stops at it later; until then the screen tells that it is not read.
func TestProjectConfigurationIsAcceptedWhenRight(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Write(".orchestrator.toml", "agent = \"demo\"\ntheme = \"dark\"\n")
	r.Says(exitcode.Error, []string{"not accepted", ".orchestrator.toml:2", "theme", "your own configuration"}, "trust")
	r.Write(".orchestrator.toml", "[limits]\ndepth = \"deep\"\n")
	r.Says(exitcode.Error, []string{"not accepted", ".orchestrator.toml:2", "limits.depth"}, "trust")
	r.Write(".orchestrator.toml", "agent = \"nobody\"\n")
	r.Open(160, 30).See(".orchestrator.toml is ignored")
	r.Write(".orchestrator.toml", "limits.depth = 3\n")
	r.Ok("trust", "--yes")
	if out := r.Ok("doctor"); !strings.Contains(out, ".orchestrator.toml") || strings.Contains(out, "not trusted") {
		t.Errorf("the doctor said:\n%s", out)
	}
}

func TestOneServerAProject(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	r.Ok("threads")
	r.Says(exitcode.Refused, []string{"already running", "process"}, "serve")
	r.Ok("threads")
}

// TestClientsStartOneServer has many clients come at once: to a project without a server, to one
// whose server was just killed, and to one whose server is just ending.
func TestClientsStartOneServer(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	come := func(why string) {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if res := r.Run("threads", "--json"); res.Code != 0 {
					t.Errorf("%s: exit %d: %s", why, res.Code, res.Stderr)
				}
			})
		}
		all.Wait()
		if got := r.Servers(); len(got) > 1 { // one that is late would serve once the other one is stopped
			t.Errorf("%s: the processes %v are servers, or want to be", why, got)
		}
	}
	come("no server")
	for range 3 {
		if err := syscall.Kill(r.ServerPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		come("a server that was killed")
	}
	if err := syscall.Kill(r.ServerPID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	e2e.Await(t, "the server to leave", func() bool {
		p := r.Claimed()
		_, err := os.Stat(p.Socket)
		return err != nil
	})
	come("a server that is ending")
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	// A file where the folder should be: root, who runs CI, may write everywhere else.
	e2e.Put(t, filepath.Join(r.Home, ".local", "state", "orchestrator"), "x")
	r.Says(exitcode.Error, []string{"state folder", "Move it away"}, "new", "-a", "demo", "x")
	r.Says(exitcode.Error, []string{"Move it away"}, "threads")
}

func TestSocketFolderOfSomebodyElse(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	run := filepath.Join(thread.Lookup(r.Env, "XDG_RUNTIME_DIR"), "orchestrator")
	if err := errors.Join(os.MkdirAll(run, 0o700), os.Chmod(run, 0o777)); err != nil {
		t.Fatal(err)
	}
	r.Says(exitcode.Error, []string{"not private to this user", run}, "threads")
}

func TestSocketLeftBehind(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	p := r.Claimed()
	e2e.Put(t, p.Socket, "left behind")
	r.Ok("threads")
}

func TestNoGit(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	if err := os.RemoveAll(filepath.Join(r.Project, ".git")); err != nil {
		t.Fatal(err)
	}
	name := r.Ok("new", "-a", "demo", "-p", "list files", "no git")
	s := r.AwaitState(name, thread.StateDone, thread.StateIdle)
	if s.Turn != 1 {
		t.Errorf("turn %d after one answer", s.Turn)
	}
	r.Says(exitcode.Error, []string{"git"}, "new", "-a", "demo", "-w", "with a worktree")
}

func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Ok("new", "-a", "demo", "-p", "list files", "kept")
	r.AwaitState(name, thread.StateDone, thread.StateIdle)
	r.Ok("stop")
	db := filepath.Join(r.StateDir(), "state.db")
	if err := os.WriteFile(db, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.Ok("threads"); !strings.Contains(out, name) {
		t.Errorf("the thread is not listed any more:\n%s", out)
	}
	res := r.Run("doctor")
	if !strings.Contains(res.Stdout, "damaged") {
		t.Errorf("the doctor does not tell of the damage:\n%s", res.Stdout)
	}
	aside, err := filepath.Glob(filepath.Join(filepath.Dir(db), "damaged-*", "state.db"))
	if err != nil || len(aside) == 0 {
		t.Errorf("the damaged file was not kept: %v %v", aside, err)
	}
}
