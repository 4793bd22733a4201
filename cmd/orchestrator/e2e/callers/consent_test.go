package callers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestShellRunsNothingOfAConversation forks a conversation into a real shell, which sets bracketed paste: what the model
// said is not run, with the person's consent or without; their own lines are.
func TestShellRunsNothingOfAConversation(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("canary")
	r.Turn(name, "say: use `touch PWNED` to do it; or $(touch PWNED)")
	has := func(file string) bool { _, err := os.Stat(filepath.Join(r.Project, file)); return err == nil }
	there := func(file string) {
		t.Helper()
		e2e.Await(t, file, func() bool { return has(file) })
	}
	if has("PWNED") {
		t.Fatal("the demo agent ran it")
	}
	for _, consent := range []bool{false, true} {
		args := []string{"fork", "x", "-t", name, "-a", "command", "--no-worktree"}
		if consent {
			args = append(args, "--hand-over")
		}
		res := r.Run(append(args, "--", "bash", "--norc", "-i")...)
		fork, _, _ := strings.Cut(res.Stdout, " ")
		if res.Code != exitcode.OK || strings.Contains(res.Stderr, "primer.md") == consent {
			t.Fatalf("consent %v: exit %d, %q", consent, res.Code, res.Stderr)
		}
		r.Says(exitcode.Refused, []string{"may run each line", "--lines"}, "send", fork, "touch PWNED\ntouch PWNED")
		r.Ok("send", fork, "history >was; touch done", "-d")
		there("done")
		if has("PWNED") {
			t.Errorf("consent %v: the conversation was run", consent)
		}
		was, err := os.ReadFile(filepath.Join(r.Project, "was"))
		if err != nil || strings.Contains(string(was), "/primer.md") != consent || strings.Contains(string(was), "PWNED") {
			t.Errorf("consent %v: the shell got %q, %v", consent, was, err)
		}
		r.Ok("send", fork, "touch one\ntouch two", "-d", "--lines")
		there("two")
		for _, file := range []string{"done", "one", "two"} {
			if err := os.Remove(filepath.Join(r.Project, file)); err != nil {
				t.Error(err)
			}
		}
		if !r.Status(fork).RunsLines {
			t.Errorf("%s is not known to run lines", fork)
		}
	}
}

// TestAgentTypesIntoNoShell: an agent that may send prompts has no shell run its text, unless it may start programs too,
// and never consents for the person.
func TestAgentTypesIntoNoShell(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	shell := r.Ok("new", "-a", "command", "--no-worktree", "shell", "--", "bash", "--norc", "-i")
	i := r.AgentShell("agent")
	r.Ok("grants", i.Name, "--add", "send,read")
	queued := e2e.Get[thread.Prompt](r, "send", shell, "read -p 'Overwrite? [y/N] ' x", "-d")
	r.AwaitState(shell, thread.StateQuestion)
	later := e2e.Get[thread.Prompt](r, "send", shell, "true", "-d")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"send", shell, "touch PWNED", "-d"}, `"start"`},
		{[]string{"send", shell, "touch PWNED", "-d", "--lines"}, `"start"`},
		{[]string{"prompts", "edit", string(later.ID), "touch PWNED"}, `"start"`},
		{[]string{"prompts", "again", string(queued.ID)}, `"start"`},
	} {
		if res := i.Orchestrator(c.args...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, c.want) {
			t.Errorf("%q: exit %d, %s%s", c.args, res.Code, res.Stdout, res.Stderr)
		}
	}
	r.Ok("grants", i.Name, "--add", "start")
	for _, args := range [][]string{
		{"send", shell, "touch PWNED", "-d", "--lines"}, {"fork", "x", "-t", shell, "--hand-over"}, {"resume", shell, "--hand-over"},
		{"new", "-a", "command", "-p", "touch PWNED", "--lines", "--", "bash"},
	} {
		if res := i.Orchestrator(args...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "only the user") {
			t.Errorf("%q: exit %d, %s%s", args, res.Code, res.Stdout, res.Stderr)
		}
	}
	if res := i.Orchestrator("send", shell, "touch allowed", "-d"); res.Code != exitcode.OK {
		t.Errorf("with both grants: exit %d, %s", res.Code, res.Stderr)
	}
	if _, err := os.Stat(filepath.Join(r.Project, "PWNED")); err == nil {
		t.Error("a shell ran what an agent sent")
	}
}

// TestAgentRunsNoCommandOfAnother: a text that an agent takes as a command of its own, such as a line for a shell, is
// typed for the person and for an agent that may start programs, and for no other agent by any way. Other texts are.
func TestAgentRunsNoCommandOfAnother(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("worker")
	i := r.AgentShell("agent")
	r.Ok("grants", i.Name, "--add", "send,read")
	r.Ok("send", name, "ask: shall I?", "-d")
	r.AwaitState(name, thread.StateQuestion)
	asked := e2e.Get[thread.Prompt](r, "send", name, "!touch PWNED", "-d")
	plain := e2e.Get[thread.Prompt](r, "send", name, "later", "-d")
	for _, text := range []string{"!touch PWNED", "  !touch PWNED", "!\ntouch PWNED", "\x01!touch PWNED", "/permissions", "\n/exit",
		"/mcp__x__y z", "# remember this"} {
		for _, args := range [][]string{{"send", name, text, "-d"}, {"prompts", "edit", string(plain.ID), text}} {
			if res := i.Orchestrator(args...); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, `"start"`) {
				t.Errorf("%q: exit %d, %s%s", args, res.Code, res.Stdout, res.Stderr)
			}
		}
	}
	r.Ok("prompts", "cancel", string(asked.ID))
	for _, text := range []string{"what does !touch do?", "/home/me/notes.md is wrong", "a\n!touch PWNED"} {
		if res := i.Orchestrator("send", name, text, "-d"); res.Code != exitcode.OK {
			t.Errorf("%q: exit %d, %s", text, res.Code, res.Stderr)
		}
	}
	r.Ok("grants", i.Name, "--add", "start")
	if res := i.Orchestrator("send", name, "/help", "-d"); res.Code != exitcode.OK {
		t.Errorf("with both grants: exit %d, %s", res.Code, res.Stderr)
	}
}
