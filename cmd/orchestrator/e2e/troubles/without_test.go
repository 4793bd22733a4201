package troubles

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/help"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// parts are the entries of the help topic, in its order: what is between its introduction and its end, without what is
// indented.
func parts(t *testing.T) (names []string) {
	t.Helper()
	text, err := help.Text("without")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i+1 < len(lines) && line != "" && !strings.HasPrefix(line, " ") && strings.HasPrefix(lines[i+1], "  works: ") {
			if i+2 >= len(lines) || !strings.HasPrefix(lines[i+2], "  not:   ") {
				t.Errorf("%s: it is not said what does not work", line)
			}
			names = append(names, line)
		}
	}
	return names
}

// without has a test for each part: it takes the part away and looks what goes on.
func without() map[string]func(*asking) {
	return map[string]func(*asking){
		"git": withoutGit, "a git repository": withoutRepository, "worktrees": withoutWorktrees, "the agent's program": withoutProgram,
		"the agent's hooks": withoutHooks, "the provider or the network": withoutProvider, "a login": withoutLogin,
		"an end of the provider's limit": withoutLimitsEnd, "the price of a model": withoutPrice, "the gateway": withoutGateway,
		"an MCP server": withoutMCP, "a notification command": withoutCommand, "a terminal": withoutTerminal,
		"a screen or client": withoutClient, "the server": withoutServer, "the store of executions": withoutExecutions,
		"space on the disk": withoutSpace, "PostgreSQL": withoutPostgres,
	}
}

// TestWithout tries every entry of `orchestrator help without` on the whole program.
func TestWithout(t *testing.T) {
	e2e.ManyStarts(t)
	names, tests := parts(t), without()
	if len(names) != len(tests) || len(names) < 15 {
		t.Errorf("%d entries, %d tests", len(names), len(tests))
	}
	for _, name := range names {
		if tests[name] == nil {
			t.Errorf("%q has no test", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests[name](newAsking(t))
		})
	}
}

// demo has the demo agent do a prompt in a run, which must complete, and returns it.
func (r *asking) demo(prompt string, flags ...string) work.Execution {
	r.T.Helper()
	args := append([]string{"run", "--once", "-d", "-a", "demo", "--permission-mode", "auto"}, flags...)
	return r.becomes(strings.TrimSpace(r.Ok(append(args, prompt)...)), work.Completed)
}

// refused calls the program, which must refuse with some words.
func (r *asking) refused(words string, args ...string) {
	r.T.Helper()
	if res := r.Run(args...); res.Code == exitcode.OK || !strings.Contains(res.Stdout+res.Stderr, words) {
		r.T.Errorf("%v ends with %d, want %q:\n%s%s", args, res.Code, words, res.Stdout, res.Stderr)
	}
}

// instead has another program before one of PATH: a script for the shell.
func (r *asking) instead(program, script string) {
	r.T.Helper()
	dir := filepath.Join(r.Home, "before")
	e2e.Put(r.T, filepath.Join(dir, program), "#!/bin/sh\n"+script)
	if err := os.Chmod(filepath.Join(dir, program), 0o755); err != nil {
		r.T.Fatal(err)
	}
	r.path(dir + ":" + os.Getenv("PATH"))
}

// path replaces PATH.
func (r *asking) path(path string) {
	r.Env = append(slices.DeleteFunc(r.Env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+path)
}

func withoutGit(r *asking) {
	empty := r.T.TempDir()
	r.path(empty)
	x := r.demo("write a.txt: without git")
	if r.Read("a.txt") != "without git\n" && r.Read("a.txt") != "without git" {
		r.T.Errorf("a.txt: %q", r.Read("a.txt"))
	}
	if s := r.Status(string(x.Thread)); s.Turn != 1 || s.Worktree.Path != "" {
		r.T.Errorf("%+v", s)
	}
	if got := r.Ok("find", "without git"); !strings.Contains(got, "without git") {
		r.T.Errorf("found %q", got)
	}
	r.refused("git", "new", "-a", "demo", "-w", "own files")
}

func withoutRepository(r *asking) {
	if err := os.RemoveAll(filepath.Join(r.Project, ".git")); err != nil {
		r.T.Fatal(err)
	}
	r.demo("write a.txt: no repository")
	if !strings.Contains(r.Read("a.txt"), "no repository") {
		r.T.Error("it was not written")
	}
	r.refused("repository", "new", "-a", "demo", "-w", "own files")
}

func withoutWorktrees(r *asking) {
	git, err := exec.LookPath("git")
	if err != nil {
		r.T.Fatal(err)
	}
	r.instead("git", `for a in "$@"; do [ "$a" = worktree ] && { echo "no worktrees here" >&2; exit 128; }; done
exec `+git+` "$@"
`)
	r.refused("no worktrees here", "new", "-a", "demo", "-w", "own files")
	r.demo("write a.txt: in place", "--no-worktree")
	if !strings.Contains(r.Read("a.txt"), "in place") {
		r.T.Error("it was not written")
	}
}

func withoutProgram(r *asking) {
	kept := r.demo("say kept")
	r.path("/usr/bin:/bin")
	r.refused("codex", "run", "--once", "-a", "codex", "x")
	r.demo("say hello")
	if got := r.Ok("find", "kept"); !strings.Contains(got, "kept") {
		r.T.Errorf("found %q, of %s", got, kept.Name)
	}
}

func withoutHooks(r *asking) { // a program of which nothing is known has none
	x := r.becomes(r.run(), work.Completed)
	s := r.Status(string(x.Thread))
	if s.Turn != 1 || x.Usage.Output == 0 {
		r.T.Errorf("%d turns, it used %+v", s.Turn, x.Usage)
	}
}

func withoutProvider(r *asking) {
	r.Env = append(r.Env, "ORCHESTRATOR_RUNS_RETRIES=2")
	r.provider.Fails("refused")
	name := r.run()
	r.demo("write a.txt: meanwhile")
	if got := r.Ok("find", "meanwhile"); !strings.Contains(got, "meanwhile") {
		r.T.Errorf("found %q", got)
	}
	x := r.becomes(name, work.Failed)
	if x.Attempt != 2 || x.Failure.State != thread.StateUnreachable || x.Reason != "the provider cannot be reached, in each of 2 attempts" {
		r.T.Errorf("%+v", x)
	}
	r.provider.Fails("")
	r.Ok("exec", "retry", name)
	r.becomes(name, work.Completed)
}

func withoutLogin(r *asking) {
	r.provider.Fails("401")
	x := r.becomes(r.run(), work.Failed)
	if x.Attempt != 1 || !strings.Contains(r.Ok("inbox"), "sign in") {
		r.T.Errorf("%+v in\n%s", x, r.Ok("inbox"))
	}
	r.demo("say hello")
}

func withoutLimitsEnd(r *asking) {
	r.provider.Fails("429 until")
	name := r.run()
	e2e.Await(r.T, "it to wait", func() bool { x := r.show(name); return x.State == work.Queued && x.Attempt == 1 })
	r.demo("say hello")
	r.Ok("stop")
	if x := r.show(name); x.State != work.Queued || !strings.Contains(x.Reason, "goes on at") {
		r.T.Errorf("after a restart: %s, %s", x.State, x.Reason)
	}
}

func withoutPrice(r *asking) {
	r.Env = append(r.Env, modelVariable+"=a-model-that-nobody-knows")
	x := r.becomes(r.run(), work.Completed)
	if x.Usage.Priced || x.Usage.CostUSD != 0 || x.Usage.Context() == 0 {
		r.T.Errorf("it used %+v", x.Usage)
	}
	if got := r.Ok("exec", "show", x.Name); strings.Contains(got, "$0") {
		r.T.Errorf("its cost is shown as none:\n%s", got)
	}
}

func withoutGateway(r *asking) {
	x := r.demo("say hello", "--no-gateway")
	s := r.Status(string(x.Thread))
	if s.Turn != 1 || !strings.Contains(x.Answer, "hello") {
		r.T.Errorf("%d turns, it answered %q", s.Turn, x.Answer)
	}
}

func withoutMCP(r *asking) {
	r.ConfigureMCP(map[string]any{"broken": map[string]any{"command": "/nowhere/at-all"}})
	r.demo("say hello")
	if got := r.Ok("mcp", "list"); !strings.Contains(got, "broken") {
		r.T.Errorf("the servers:\n%s", got)
	}
}

func withoutCommand(r *asking) {
	e2e.Put(r.T, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "notify_command = [\"/nowhere/at-all\"]\n")
	r.demo("say hello")
	if got := r.Ok("events"); !strings.Contains(got, "hello") {
		r.T.Errorf("the event log:\n%s", got)
	}
}

func withoutTerminal(r *asking) {
	r.refused("terminal")
	r.demo("say hello")
	name := r.show("exec-001").Thread
	r.refused("terminal", "attach", string(name))
}

func withoutClient(r *asking) {
	name := strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "--permission-mode", "auto", "write a.txt: alone"))
	e2e.Await(r.T, "it to be written, with nobody there", func() bool {
		b, err := os.ReadFile(filepath.Join(r.Project, "a.txt"))
		return err == nil && strings.Contains(string(b), "alone")
	})
	r.becomes(name, work.Completed)
}

func withoutServer(r *asking) {
	kept := r.demo("say kept")
	r.provider.Fails("slow")
	name := r.run("--lost", "retry")
	e2e.Await(r.T, "it to run", func() bool { return r.show(name).State == work.Running })
	for _, pid := range r.Servers() {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have just ended
	}
	e2e.Await(r.T, "the server to be gone", func() bool { return len(r.Servers()) == 0 })
	r.provider.Fails("")
	if x := r.becomes(name, work.Completed); x.Attempt != 2 {
		r.T.Errorf("%+v", x)
	}
	if x := r.show(kept.Name); x.State != work.Completed || !strings.Contains(x.Answer, "kept") {
		r.T.Errorf("%+v", x)
	}
}

func withoutExecutions(r *asking) {
	kept := r.demo("say kept")
	r.Ok("stop")
	files, _ := filepath.Glob(filepath.Join(r.StateDir(), "work.db*"))
	if len(files) == 0 {
		r.T.Fatal("there is no store of executions")
	}
	for _, f := range files {
		if err := os.WriteFile(f, []byte(strings.Repeat("this is no database\n", 500)), 0o600); err != nil {
			r.T.Fatal(err)
		}
	}
	if s := r.Status(string(kept.Thread)); s.Turn != 1 {
		r.T.Errorf("its thread: %+v", s)
	}
	if got := r.Ok("find", "kept"); !strings.Contains(got, "kept") {
		r.T.Errorf("found %q", got)
	}
	r.demo("say hello")
}

func withoutSpace(r *asking) {
	disk := r.StateDisk(0)
	x := r.demo("say kept")
	free := r.Fill(disk)
	if got := r.Ok("threads"); !strings.Contains(got, "kept") {
		r.T.Errorf("the list:\n%s", got)
	}
	file := filepath.Join(r.T.TempDir(), "kept.orchestrator")
	r.Ok("export", string(x.Thread), "-o", file)
	r.refused("full", "run", "--once", "-d", "-a", "demo", "say more")
	free()
	r.demo("say more")
}

func withoutPostgres(r *asking) {
	r.demo("say kept")
	r.Ok("stop")
	own := r.Env
	r.Env = append(slices.Clone(own), "ORCHESTRATOR_STORE=postgres://nobody@127.0.0.1:1/nothing")
	r.refused("127.0.0.1:1", "threads")
	r.Env = own
	if got := r.Ok("find", "kept"); !strings.Contains(got, "kept") {
		r.T.Errorf("found %q", got)
	}
}
