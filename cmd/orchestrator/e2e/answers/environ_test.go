package answers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
)

// TestEnvironmentOfTheShell starts agents from a shell that is newer than the server: they have its variables and
// programs, and that is said; what an agent itself starts has the server's, and nothing of it is stored.
func TestEnvironmentOfTheShell(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	const secret = "sk-of-todays-shell-0123456789"
	first := r.Env
	out := func(name string) string {
		var b []byte
		file := filepath.Join(r.Project, name)
		e2e.Await(t, file, func() bool {
			var err error
			b, err = os.ReadFile(file)
			return err == nil && strings.HasSuffix(string(b), "\n")
		})
		return strings.TrimSpace(string(b))
	}
	show := func(file string) []string {
		return []string{"-a", "command", "--no-worktree", "--", "/bin/sh", "-c", "echo \"$NEW_KEY\" > " + file + "; exec cat"}
	}
	r.Ok(append([]string{"new", "old"}, show("old")...)...)
	if got := out("old"); got != "" {
		t.Fatalf("the agent has %q", got)
	}
	bin := filepath.Join(r.Home, "newbin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "mytool"), []byte("#!/bin/sh\necho found > tool; exec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, kv := range first {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	r.Env = append(slices.DeleteFunc(slices.Clone(first), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }),
		"NEW_KEY="+secret, "PATH="+bin+":"+path)
	got := r.Run(append([]string{"new", "newer"}, show("newer")...)...)
	if got.Code != 0 || !strings.Contains(got.Stderr, "NEW_KEY, PATH") || !strings.Contains(got.Stderr, "orchestrator restart") {
		t.Errorf("nothing was said: %+v", got)
	}
	if strings.Contains(got.Stderr+got.Stdout, secret) {
		t.Error("the value was shown")
	}
	if got := out("newer"); got != secret {
		t.Errorf("the agent has %q", got)
	}
	newer := strings.TrimSpace(got.Stdout)
	r.Ok("new", "tool", "-a", "command", "--no-worktree", "--", "mytool")
	if got := out("tool"); got != "found" {
		t.Errorf("a program on the new PATH: %q", got)
	}
	r.Ok("stop", newer)
	os.Remove(filepath.Join(r.Project, "newer"))
	if s := e2e.Get[[]thread.Status](r, "resume", newer); s[0].Environ == nil || !s[0].Environ.Shell {
		t.Errorf("the resume does not say which environment it used: %+v", s[0].Environ)
	}
	if got := out("newer"); got != secret {
		t.Errorf("resumed, the agent has %q", got)
	}
	r.Ok("stop", newer)
	r.Env = first // the older shell again
	if got := r.Ok("resume", newer); strings.Contains(got, "environment of this shell") {
		t.Errorf("said without a difference: %s", got)
	}
	err := filepath.WalkDir(r.StateDir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), secret) {
			t.Errorf("the value is stored in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestServersOfTheShell has an MCP server take a value from the environment of the shell that its thread was started from:
// another value than was accepted is asked about, and given once it is accepted; doctor names what differs.
func TestServersOfTheShell(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	const secret = "sk-of-todays-shell-9876543210"
	first := r.Env
	r.Env = append(slices.Clone(first), "NEW_KEY=old-value", "TMUX_PANE=%1")
	server := e2e.FakeServer()
	server["env"].(map[string]string)["GIVEN"] = "${NEW_KEY}"
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"repo": server}})
	if err != nil {
		t.Fatal(err)
	}
	r.Write(".mcp.json", string(text))
	accept := func(more ...string) {
		t.Helper()
		hash := e2e.Get[thread.MCPDetail](r, append([]string{"mcp", "show", "repo"}, more...)...).Hash
		r.Ok(append([]string{"mcp", "approve", "repo", "--hash", hash}, more...)...)
	}
	agent := []string{"-a", "command", "--no-worktree", "--", "/bin/sh", "-c", "exec cat"}
	old := r.Ok(append([]string{"new", "old"}, agent...)...)
	accept()
	if got := r.Ok("mcp", "call", "repo", "environ", "--thread", old); !strings.Contains(got, "GIVEN=old-value") {
		t.Errorf("%s", got)
	}
	if got := r.Ok("doctor"); !strings.Contains(got, "the same for the server and this shell") {
		t.Errorf("doctor in the same shell:\n%s", got)
	}
	r.Env = append(slices.Clone(first), "NEW_KEY="+secret, "HTTPS_PROXY=http://today.corp.example:3128", "TMUX_PANE=%2")
	doctor := r.Ok("doctor")
	if !strings.Contains(doctor, "HTTPS_PROXY, NEW_KEY") || !strings.Contains(doctor, "orchestrator restart") || strings.Contains(doctor, "TMUX") {
		t.Errorf("doctor in a newer shell:\n%s", doctor)
	}
	newer := strings.TrimSpace(r.Run(append([]string{"new", "newer"}, agent...)...).Stdout)
	r.Says(exitcode.Refused, []string{"NEW_KEY", "mcp approve repo --thread"}, "mcp", "call", "repo", "environ", "--thread", newer)
	show := r.Ok("mcp", "show", "repo", "--thread", newer)
	if !strings.Contains(show, "NEW_KEY") || strings.Contains(show+doctor, secret) {
		t.Errorf("what is asked:\n%s", show)
	}
	accept("--thread", newer)
	got := r.Ok("mcp", "call", "repo", "environ", "--thread", newer)
	if !strings.Contains(got, "GIVEN="+secret) || !strings.Contains(got, "today.corp.example") {
		t.Errorf("once it is accepted: %s", got)
	}
	if got := r.Ok("mcp", "call", "repo", "environ", "--thread", old); !strings.Contains(got, "GIVEN=old-value") {
		t.Errorf("the other thread's: %s", got)
	}
	r.Ok("restart") // the server has this shell's environment now, and what was accepted for it counts
	if got := r.Ok("doctor"); !strings.Contains(got, "the same for the server and this shell") {
		t.Errorf("doctor after the restart:\n%s", got)
	}
	if got := r.Ok("mcp", "call", "repo", "environ"); !strings.Contains(got, "GIVEN="+secret) {
		t.Errorf("after the restart: %s", got)
	}
}
