package gemini_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// headlessSpec is a start by a person who has decided about the folder.
func headlessSpec(t *testing.T, trust string) (*gemini.Agent, thread.LaunchSpec) {
	t.Helper()
	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	agenttest.Put(t, filepath.Join(bin, "gemini"), "#!/bin/sh\necho 0.61.0\n")
	if err := os.Chmod(filepath.Join(bin, "gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "work")
	agenttest.Put(t, filepath.Join(dir, "a.txt"), "a")
	if trust != "" {
		agenttest.Put(t, filepath.Join(root, "home", ".gemini", "trustedFolders.json"), `{"`+dir+`":"`+trust+`"}`)
	}
	env := []string{"HOME=" + filepath.Join(root, "home"), "PATH=" + bin + ":/usr/bin:/bin", "GEMINI_API_KEY=dummy"}
	return gemini.New(launch.Config{Env: env}), thread.LaunchSpec{
		Dir: dir, StateDir: filepath.Join(root, "state"), Env: env, Once: thread.Once{On: true},
	}
}

// A folder is trusted by the person alone.
func TestHeadlessTrust(t *testing.T) {
	for trust, ok := range map[string]bool{"TRUST_FOLDER": true, "TRUST_PARENT": true, "DO_NOT_TRUST": false, "": false} {
		a, spec := headlessSpec(t, trust)
		l, err := a.Headless(t.Context(), spec)
		if ok != (err == nil) || !ok && !errors.Is(err, thread.ErrRefused) {
			t.Errorf("%q: %v", trust, err)
		}
		if v := launch.Env(l.Launch.Env).Value("GEMINI_CLI_TRUST_WORKSPACE"); v != "" {
			t.Errorf("%q: trust is set to %q", trust, v)
		}
		spec.Origin, spec.Dir = spec.Dir, t.TempDir() // a worktree of it
		if _, err := a.Headless(t.Context(), spec); ok != (err == nil) {
			t.Errorf("%q, a worktree: %v", trust, err)
		}
	}
}

// TestHeadlessSandbox: a sandbox would get the prompt as an argument.
func TestHeadlessSandbox(t *testing.T) {
	for _, c := range []struct {
		settings, variable string
		args               []string
		refused            bool
	}{
		{`{}`, "", nil, false},
		{`{"tools":{"sandbox":true}}`, "", nil, true},
		{`{"tools":{"sandbox":"docker"}}`, "", nil, true},
		{`{"tools":{"sandbox":true}}`, "false", nil, false},
		{`{"tools":{"sandbox":false}}`, "podman", nil, true},
		{`{}`, "", []string{"-s"}, true},
		{`{}`, "", []string{"--sandbox=false"}, false},
	} {
		a, spec := headlessSpec(t, "TRUST_FOLDER")
		agenttest.Put(t, filepath.Join(launch.Env(spec.Env).Home(), ".gemini", "settings.json"), c.settings)
		if spec.Flags.Args = c.args; c.variable != "" {
			spec.Flags.Env = []string{"GEMINI_SANDBOX=" + c.variable}
		}
		if _, err := a.Headless(t.Context(), spec); errors.Is(err, thread.ErrUnsupported) != c.refused || !c.refused && err != nil {
			t.Errorf("%s, %q, %q: %v", c.settings, c.variable, c.args, err)
		}
	}
}

func TestHeadlessRules(t *testing.T) {
	for _, c := range []struct {
		name           string
		edit           func(*thread.LaunchSpec)
		denied, others []string
		args           []string
	}{
		{"writes", func(*thread.LaunchSpec) {}, []string{"enter_plan_mode", "exit_plan_mode"}, []string{"write_file", "*"}, nil},
		{"read-only", func(s *thread.LaunchSpec) {
			s.Once.ReadOnly, s.Flags.PermissionMode, s.Flags.Args = true, "yolo", []string{"--yolo", "--policy", "/theirs", "-m", "x"}
		},
			[]string{"exit_plan_mode", "write_file", "replace", "run_shell_command", "*"}, nil,
			[]string{"--approval-mode plan", "--allowed-mcp-server-names orchestrator-none"}},
		{"read-only with a server", func(s *thread.LaunchSpec) {
			s.Once.ReadOnly = true
			s.MCP = &thread.MCPLaunch{Name: "orch", Registered: "orch1", Command: []string{"/x"}}
		}, []string{"write_file", "*"}, nil, []string{"--approval-mode plan", "--allowed-mcp-server-names orch1"}},
	} {
		a, spec := headlessSpec(t, "TRUST_FOLDER")
		c.edit(&spec)
		h, err := a.Headless(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Join(h.Launch.Args, " ")
		if spec.Once.ReadOnly && (strings.Contains(args, "yolo") || strings.Contains(args, "/theirs")) {
			t.Errorf("%s: %s", c.name, args)
		}
		for _, want := range append(c.args, "--output-format stream-json") {
			if !strings.Contains(args, want) {
				t.Errorf("%s: %s lacks %s", c.name, args, want)
			}
		}
		raw, err := os.ReadFile(filepath.Join(spec.StateDir, "gemini-policy.toml"))
		if err != nil {
			t.Fatal(err)
		}
		var denied []string
		for _, rule := range strings.Split(string(raw), "[[rule]]\n") {
			if strings.Contains(rule, `decision = "deny"`) {
				denied = append(denied, strings.Split(rule, `"`)[1])
			}
		}
		for _, tool := range c.denied {
			if !slices.Contains(denied, tool) {
				t.Errorf("%s: %s is not denied by\n%s", c.name, tool, raw)
			}
		}
		for _, tool := range c.others {
			if slices.Contains(denied, tool) {
				t.Errorf("%s: %s is denied", c.name, tool)
			}
		}
		own := strings.Contains(string(raw), "\"mcp_orch1_orch__retrieve\"\ndecision = \"allow\"")
		if own != (spec.MCP != nil) {
			t.Errorf("%s: our own tools are allowed: %v", c.name, own)
		}
	}
}
