package opencode_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

// TestHeadlessReadOnly: what it may only read with has a name that nobody else knows, and nothing widens it.
func TestHeadlessReadOnly(t *testing.T) {
	root := t.TempDir()
	bin := filepath.Join(root, "bin", "opencode")
	agenttest.Put(t, bin, "#!/bin/sh\necho 1.18.33\n"+strings.Repeat("#", 70<<10))
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + filepath.Join(root, "home"), "PATH=" + filepath.Dir(bin) + ":/usr/bin:/bin",
		`OPENCODE_CONFIG_CONTENT={"instructions":["/their.md"],"agent":{"build":{"permission":{"bash":"allow"}}}}`}
	a := opencode.New(launch.Config{Env: env})
	spec := thread.LaunchSpec{
		Dir: root, StateDir: filepath.Join(root, "state"), Env: env, Once: thread.Once{On: true, ReadOnly: true}, ReadDirs: []string{"/staged"},
		Flags: thread.Flags{PermissionMode: "auto", Args: []string{"--agent", "build", "--auto", "--attach=http://x", "--title", "t"}},
		MCP:   &thread.MCPLaunch{Name: "orch", Registered: "orch1", Command: []string{"/x"}},
	}
	agenttest.Put(t, filepath.Join(root, "AGENTS.md"), "be brief")
	names := map[string]bool{}
	for range 2 {
		h, err := a.Headless(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Join(h.Launch.Args, " ")
		begin, rest, ok := strings.Cut(args, "run --format json --agent ")
		name, own, _ := strings.Cut(rest, " ")
		if !ok || begin != "" || own != "--title t" || names[name] {
			t.Errorf("arguments %q", args)
		}
		names[name] = true
		e := launch.Env(h.Launch.Env)
		if !e.Enabled("OPENCODE_DISABLE_PROJECT_CONFIG") {
			t.Error("it reads the repository's configuration, and with it its code")
		}
		var content struct {
			Instructions []string `json:"instructions"`
			Agent        map[string]struct {
				Mode       string          `json:"mode"`
				Permission json.RawMessage `json:"permission"`
			} `json:"agent"`
		}
		if err := json.Unmarshal([]byte(e.Value("OPENCODE_CONFIG_CONTENT")), &content); err != nil {
			t.Fatal(err)
		}
		const want = `{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow",` +
			`"external_directory":{"*":"deny","/staged/*":"allow"},"orch_orch__find_tool":"allow","orch_orch__retrieve":"allow"}`
		if !slices.Equal(content.Instructions, []string{"/their.md", filepath.Join(root, "AGENTS.md")}) {
			t.Errorf("instructions %q", content.Instructions)
		}
		if got := content.Agent[name]; got.Mode != "primary" || string(got.Permission) != want || content.Agent["build"].Permission == nil {
			t.Errorf("%+v", content)
		}
	}
	spec.Once.ReadOnly = false
	h, err := a.Headless(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(h.Launch.Args, " "); got != "run --format json --auto --agent build --auto --title t" {
		t.Errorf("a writer's arguments %q", got)
	}
}
