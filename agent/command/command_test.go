package command_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/command"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Subject{
		New:     func(c launch.Config) thread.Agent { return command.New(c) },
		Flags:   thread.Flags{Program: []string{"/bin/sh", "-i"}},
		Env:     []string{"OPENAI_BASE_URL=http://127.0.0.1:11434/v1"},
		Gateway: false,
	})
}

func TestFind(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "mine"), filepath.Join(bin, "theirs")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "data"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		program, want string
		err           error
	}{
		{"theirs", filepath.Join(bin, "theirs"), nil},
		{"./mine", filepath.Join(dir, "mine"), nil},
		{"mine", "", thread.ErrNotFound}, // "." on PATH does not count
		{"data", "", thread.ErrNotFound},
		{filepath.Join(bin, "theirs"), filepath.Join(bin, "theirs"), nil},
		{"", "", thread.ErrInvalid},
		{"a\x00b", "", thread.ErrInvalid},
	}
	for _, tt := range tests {
		l, err := command.New(launch.Config{}).Launch(t.Context(), thread.LaunchSpec{
			Dir: dir, Env: []string{"PATH=.:" + bin},
			Flags: thread.Flags{Program: []string{tt.program, "x"}, Args: []string{"y"}},
		})
		if l.Path != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%q: %q, %v; want %q, %v", tt.program, l.Path, err, tt.want, tt.err)
		}
	}
}

func TestGatewayByEnvironment(t *testing.T) {
	env := []string{"OPENAI_BASE_URL=http://127.0.0.1:11434/v1/", "ANTHROPIC_BASE_URL=https://proxy.example"}
	a := command.New(launch.Config{})
	up := agenttest.World(t, a, env).Upstreams
	if up["openai"] != "http://127.0.0.1:11434" || up["anthropic"] != "https://proxy.example" || up[""] == "" {
		t.Errorf("upstreams %v", up)
	}
	if up := agenttest.World(t, a, nil).Upstreams; up != nil {
		t.Errorf("upstreams of nothing: %v", up)
	}
	l, err := a.Launch(t.Context(), thread.LaunchSpec{
		Dir: "/", Env: env, BaseURL: "http://gw/t/s", Flags: thread.Flags{Program: []string{"/bin/sh"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := launch.Env(l.Env)
	if e.Value("OPENAI_BASE_URL") != "http://gw/t/s/@openai/v1" ||
		e.Value("ANTHROPIC_BASE_URL") != "http://gw/t/s/@anthropic" {
		t.Errorf("environment %q", l.Env)
	}
}

// TestServersAreOffered in a file that a variable names: who reads it can connect.
func TestServersAreOffered(t *testing.T) {
	a, state := command.New(launch.Config{}), t.TempDir()
	spec := thread.LaunchSpec{
		Dir: "/", StateDir: state, Env: []string{command.ServersVar + "=/of/an/outer/thread"},
		Flags: thread.Flags{Program: []string{"/bin/sh"}},
		MCP:   &thread.MCPLaunch{Name: "orch", Command: []string{"/bin/bridge", "mcp-bridge", "/a socket"}},
	}
	l, err := a.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	path := launch.Env(l.Env).Value(command.ServersVar)
	if err := launch.ReadJSON(path, &file); err != nil {
		t.Fatal(err)
	}
	got := file.Servers["orch"]
	if filepath.Dir(path) != state || got.Command != "/bin/bridge" || !slices.Equal(got.Args, []string{"mcp-bridge", "/a socket"}) {
		t.Errorf("%s: %+v", path, file)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v (%v)", info.Mode(), err)
	}
	if !l.MCP.Offered || l.MCP.Given || !l.MCP.Live {
		t.Errorf("%+v", l.MCP)
	}
	spec.MCP = nil
	if l, err = a.Launch(t.Context(), spec); err != nil || launch.Env(l.Env).Value(command.ServersVar) != "" || l.MCP.Offered {
		t.Errorf("with MCP off: %q, %+v (%v)", launch.Env(l.Env).Value(command.ServersVar), l.MCP, err)
	}
}

func TestRules(t *testing.T) {
	agenttest.Rules(t, command.New(launch.Config{}).Rules(), []agenttest.Screen{
		{Name: "shell", Lines: "$ make\nbuilt\n$"},
		{Name: "yes or no", Lines: "$ apt install x\nDo you want to continue? [Y/n]", Want: thread.StateQuestion},
		{Name: "a question before", Lines: "Do you want to continue? [Y/n] y\ndone\n$"},
		{Name: "yes/no", Lines: "Are you sure (yes/no)?", Want: thread.StateQuestion},
		{Name: "password", Lines: "$ ssh box\nme@box's password:", Want: thread.StateQuestion},
		{Name: "key", Lines: "Enter passphrase for key '/home/me/.ssh/id':", Want: thread.StateQuestion},
		{Name: "of passwords", Lines: "the password is stored\n$"},
		{Name: "menu", Lines: "Pick one\n> a\n  b\nEnter to select · Esc to cancel", Want: thread.StateQuestion},
		{Name: "list", Lines: "? Pick one: (Use arrow keys)\n> a\n  b", Want: thread.StateQuestion},
	})
}
