package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// script writes a program of lines for the shell.
func script(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestAcceptedServerAndItsAgent: an agent that changes an accepted server of the repository in its worktree does not get
// that started, and is not asked for it instead; another thread goes on with what was accepted.
func TestAcceptedServerAndItsAgent(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRigApart(t)
	canary := filepath.Join(t.TempDir(), "ran")
	script(t, filepath.Join(r.Project, "server.sh"), "exec '"+e2e.Program+"' demo-notes")
	r.Write(".mcp.json", `{"mcpServers": {"repo": {"command": "./server.sh"}}}`)
	r.Git("add", "-A")
	r.Git("commit", "-q", "-m", "server")
	first, kid := r.Demo("first"), r.Demo("kid")
	for _, name := range []string{first, kid} {
		show := e2e.Get[thread.MCPDetail](r, "mcp", "show", "repo", "--thread", name)
		if !show.Accepted {
			r.Ok("mcp", "approve", "repo", "--thread", name, "--hash", show.Hash)
		}
		e2e.Await(t, "the tools of "+name, func() bool {
			return strings.Contains(r.Ok("send", name, "call repo__add milk"), "kept as note")
		})
	}
	r.Turn(kid, "run sed -i '2i touch "+canary+"' server.sh")
	r.Run("mcp", "restart", "repo") // which says that it cannot be started in one of the threads, or not
	if out := r.Ok("send", kid, "call repo__add bread"); strings.Contains(out, "kept as note 1") {
		t.Errorf("the changed server was started: %s", out)
	}
	if show := e2e.Get[thread.MCPDetail](r, "mcp", "show", "repo", "--thread", kid); show.Accepted || !show.Changed {
		t.Errorf("in the worktree: %+v", show)
	}
	r.Says(exitcode.Refused, []string{"accept"}, "mcp", "call", "repo", "add", `{"text":"eggs"}`, "--thread", kid)
	if _, err := os.Stat(canary); err == nil {
		t.Error("what nobody accepted ran")
	}
	if out := r.Ok("send", first, "call repo__add eggs"); !strings.Contains(out, "kept as note") {
		t.Errorf("the other thread: %s", out)
	}
}

// TestChildrenOfServersEnd: 250 programs that a server left behind, each in a session of its own, end with it: restarted,
// crashed, and when our server was killed and starts again.
func TestChildrenOfServersEnd(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	children := 250
	if testing.Short() {
		children = 30
	}
	mark := fmt.Sprintf("600.%d", os.Getpid())
	path := filepath.Join(r.Home, "server.sh")
	script(t, path, "i=0", fmt.Sprintf("[ -e '%s.alone' ] || while [ $i -lt %d ]; do", path, children),
		"\t(env -i setsid nohup sleep "+mark+" </dev/null >/dev/null 2>&1 &)", "\ti=$((i+1))", "done &",
		"exec '"+e2e.Program+"' demo-notes")
	r.ConfigureMCP(map[string]any{"parent": map[string]any{"command": path}})
	left := func() (n int) {
		list, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), "sleep\x00"+mark) {
				n++
			}
		}
		return n
	}
	name := r.Demo("one")
	for what, end := range map[string]func(pid int){
		"restarted": func(int) { r.Ok("mcp", "restart", "parent") },
		"crashed": func(pid int) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		},
		"our server killed": func(int) {
			for _, pid := range r.Servers() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			r.Ok("threads") // starts the next one
		},
	} {
		r.Run("resume", name) // our server may have been killed
		r.Ok("mcp", "enable", "parent", "--thread", name)
		r.Ok("mcp", "call", "parent", "list", "--thread", name)
		r.Ok("mcp", "restart", "parent") // the one that runs may have been started alone
		var pid int
		for _, s := range e2e.Get[thread.MCPReport](r, "mcp", "list", "--thread", name).Servers {
			pid = s.PID
		}
		e2e.Await(t, what+": its children", func() bool { return left() >= children })
		script(t, path+".alone") // a crashed one is started again
		end(pid)
		e2e.Await(t, what+": their end", func() bool { return left() == 0 })
		if err := os.Remove(path + ".alone"); err != nil {
			t.Fatal(err)
		}
	}
}
