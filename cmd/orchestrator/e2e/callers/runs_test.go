package callers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// TestRunIsNoWayOut: an agent that may start runs, and nothing else, starts them in the project, as what is configured and
// after those of the person; and reaches no other thread by them.
func TestRunIsNoWayOut(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "[runs.agents]\ndemo = 4\n[tiers.demo]\nfast = \"small\"\nstrong = \"large\"\n")
	r.Write("sub/file", "x")
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(r.Project, "out")); err != nil {
		t.Fatal(err)
	}
	i := r.AgentShell("agent")
	r.Ok("grants", i.Name, "--add", "run")
	run := []string{"run", "--once", "-d", "-a", "demo"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--dir", outside}, `"start"`},
		{[]string{"--dir", "/"}, `"start"`},
		{[]string{"--dir", "out"}, `"start"`},
		{[]string{"--no-worktree"}, `"start"`},
		{[]string{"-a", "opencode"}, `"start"`},
		{[]string{"--priority", "1"}, `"start"`},
		{[]string{"--deadline", "24h"}, `"start"`},
		{[]string{"--lost", "retry"}, `"start"`},
		{[]string{"--permission-mode", "auto"}, `"start"`},
		{[]string{"--tier", "strong"}, `"start"`},
		{[]string{"-m", "large"}, `"start"`},
		{[]string{"--calls", "none"}, `"start"`},
		{[]string{"--words", "none"}, `"start"`},
		{[]string{"--dispose", "merge"}, `"merge"`},
		{[]string{"--dispose", "drop"}, `"manage"`},
	} {
		args := append(append([]string{}, run...), append(c.args, "list files")...)
		if res := i.Orchestrator(args...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, c.want) {
			t.Errorf("%q: exit %d, %s%s", args, res.Code, res.Stdout, res.Stderr)
		}
	}
	if n := len(e2e.Get[[]work.Execution](r, "exec", "list")); n != 0 {
		t.Errorf("%d runs were started", n)
	}
	for _, args := range [][]string{
		{}, {"--dir", "sub"}, {"--no-worktree", "--read-only"}, {"--priority", "-1"}, {"--deadline", "1m"}, {"--lost", "fail"}, {"--dispose", "keep"},
		{"--tier", "fast"}, {"-m", "small"}, {"--calls", "50", "--words", "50"}, {"--explore"},
	} {
		args := append(append([]string{}, run...), append(args, "list files")...)
		if res := i.Orchestrator(args...); res.Code != exitcode.OK {
			t.Errorf("%q: exit %d, %s%s", args, res.Code, res.Stdout, res.Stderr)
		}
	}
}

// TestRunIsNoWayIn: asking runs again is asking those that an agent has started, and not one that the person has taken
// over; and to send prompts is not to start runs.
func TestRunIsNoWayIn(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	e2e.Put(t, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), "[runs.agents]\ndemo = 4\n")
	i := r.AgentShell("agent")
	r.Ok("grants", i.Name, "--add", "run")
	ended := func(name string) (x work.Execution) {
		e2e.Await(t, name+" to end", func() bool {
			x = e2e.Get[work.Execution](r, "exec", "show", name)
			return x.State.Final()
		})
		return x
	}
	own := ended(strings.TrimSpace(i.Orchestrator("run", "--once", "-d", "-a", "demo", "list files").Stdout))
	if res := i.Orchestrator("exec", "send", "-d", own.Name, "again"); res.Code != exitcode.OK {
		t.Fatalf("its own run: exit %d, %s", res.Code, res.Stderr)
	}
	e2e.Await(t, "the next run", func() bool {
		list := e2e.Get[[]work.Execution](r, "exec", "list")
		return len(list) == 2 && list[0].State.Final()
	})
	r.Ok("resume", string(own.Thread))
	e2e.Await(t, "the terminal", func() bool { return r.Status(string(own.Thread)).Execution != nil })
	if res := i.Orchestrator("exec", "send", "-d", own.Name, "typed"); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, `"send"`) {
		t.Errorf("into a terminal: exit %d, %s%s", res.Code, res.Stdout, res.Stderr)
	}

	// The person's run: to edit its prompt, withdraw it, or have it run again is as much as to start it.
	cut := strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "count to 20000"))
	e2e.Await(t, cut+" to run", func() bool { return e2e.Get[work.Execution](r, "exec", "show", cut).State == work.Running })
	r.Ok("exec", "cancel", cut)
	mine := ended(cut)
	r.Ok("queue", "pause")
	waits := strings.TrimSpace(r.Ok("run", "--once", "-d", "-a", "demo", "mine"))
	x := e2e.Get[work.Execution](r, "exec", "show", waits)
	r.Ok("grants", i.Name, "--remove", "run")
	r.Ok("grants", i.Name, "--add", "send,read")
	for args, want := range map[string]string{"prompts edit " + string(x.Prompt) + " other": `"start"`, "prompts cancel " + string(x.Prompt): `"manage"`} {
		if res := i.Orchestrator(strings.Fields(args)...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, want) {
			t.Errorf("%s: exit %d, %s%s", args, res.Code, res.Stdout, res.Stderr)
		}
	}
	if now := e2e.Get[work.Execution](r, "exec", "show", waits); now.State != work.Queued {
		t.Errorf("%+v", now)
	}
	again := []string{"prompts", "again", string(mine.Prompt)}
	e2e.Await(t, "its prompt to end", func() bool {
		list := e2e.Get[[]thread.Prompt](r, "prompts", string(mine.Thread))
		return len(list) == 1 && list[0].State.Again()
	})
	if res := i.Orchestrator(again...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, `"start"`) {
		t.Errorf("again: exit %d, %s%s", res.Code, res.Stdout, res.Stderr)
	}
	r.Ok("grants", i.Name, "--add", "start")
	if res := i.Orchestrator(again...); res.Code != exitcode.OK {
		t.Fatalf("again with the grant: exit %d, %s", res.Code, res.Stderr)
	}
	x = e2e.Get[[]work.Execution](r, "exec", "list")[0]
	if inside := r.Status(i.Name); x.Thread != mine.Thread || x.By != inside.ID || x.Depth != 1 {
		t.Errorf("by %q, depth %d: %+v", x.By, x.Depth, x)
	}
}
