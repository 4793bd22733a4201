package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
	manyStarts(t)
	t.Parallel()
	r := newRigApart(t)
	canary := filepath.Join(t.TempDir(), "ran")
	script(t, filepath.Join(r.project, "server.sh"), "exec '"+program+"' demo-notes")
	r.write(".mcp.json", `{"mcpServers": {"repo": {"command": "./server.sh"}}}`)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "server")
	first, kid := r.demo("first"), r.demo("kid")
	for _, name := range []string{first, kid} {
		show := get[thread.MCPDetail](r, "mcp", "show", "repo", "--thread", name)
		if !show.Accepted {
			r.ok("mcp", "approve", "repo", "--thread", name, "--hash", show.Hash)
		}
		await(t, "the tools of "+name, func() bool {
			return strings.Contains(r.ok("send", name, "call repo__add milk"), "kept as note")
		})
	}
	r.turn(kid, "run sed -i '2i touch "+canary+"' server.sh")
	r.run("mcp", "restart", "repo") // which says that it cannot be started in one of the threads, or not
	if out := r.ok("send", kid, "call repo__add bread"); strings.Contains(out, "kept as note 1") {
		t.Errorf("the changed server was started: %s", out)
	}
	if show := get[thread.MCPDetail](r, "mcp", "show", "repo", "--thread", kid); show.Accepted || !show.Changed {
		t.Errorf("in the worktree: %+v", show)
	}
	r.says(exitcode.Refused, []string{"accept"}, "mcp", "call", "repo", "add", `{"text":"eggs"}`, "--thread", kid)
	if _, err := os.Stat(canary); err == nil {
		t.Error("what nobody accepted ran")
	}
	if out := r.ok("send", first, "call repo__add eggs"); !strings.Contains(out, "kept as note") {
		t.Errorf("the other thread: %s", out)
	}
}

// TestChildrenOfServersEnd: 250 programs that a server left behind, each in a session of its own, end with it: restarted,
// crashed, and when our server was killed and starts again.
func TestChildrenOfServersEnd(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	r := newRig(t)
	children := 250
	if testing.Short() {
		children = 30
	}
	mark := fmt.Sprintf("600.%d", os.Getpid())
	path := filepath.Join(r.home, "server.sh")
	script(t, path, "i=0", fmt.Sprintf("[ -e '%s.alone' ] || while [ $i -lt %d ]; do", path, children),
		"\t(env -i setsid nohup sleep "+mark+" </dev/null >/dev/null 2>&1 &)", "\ti=$((i+1))", "done &",
		"exec '"+program+"' demo-notes")
	r.configureMCP(map[string]any{"parent": map[string]any{"command": path}})
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
	name := r.demo("one")
	for what, end := range map[string]func(pid int){
		"restarted": func(int) { r.ok("mcp", "restart", "parent") },
		"crashed": func(pid int) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		},
		"our server killed": func(int) {
			for _, pid := range r.servers() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			r.ok("threads") // starts the next one
		},
	} {
		r.run("resume", name) // our server may have been killed
		r.ok("mcp", "enable", "parent", "--thread", name)
		r.ok("mcp", "call", "parent", "list", "--thread", name)
		r.ok("mcp", "restart", "parent") // the one that runs may have been started alone
		var pid int
		for _, s := range get[thread.MCPReport](r, "mcp", "list", "--thread", name).Servers {
			pid = s.PID
		}
		await(t, what+": its children", func() bool { return left() >= children })
		script(t, path+".alone") // a crashed one is started again
		end(pid)
		await(t, what+": their end", func() bool { return left() == 0 })
		if err := os.Remove(path + ".alone"); err != nil {
			t.Fatal(err)
		}
	}
}
