package claude_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func subject() agenttest.Subject {
	return agenttest.Subject{
		New:        func(c launch.Config) thread.Agent { return claude.New(c) },
		Command:    "claude",
		OldVersion: "1.0.80", NewVersion: "2.1.330",
		Env: []string{"ANTHROPIC_API_KEY=sk-ant-dummy", "CLAUDECODE=1"},
		Configure: func(t *testing.T, home string) {
			agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"), `{"model":"opus","env":{"A":"b"}}`)
			agenttest.Put(t, filepath.Join(home, ".claude.json"), `{"hasCompletedOnboarding":true}`)
		},
		Gateway: true, Resumes: true, Chooses: true,
		NewSession: launch.UUID,
		Write:      write,
	}
}

func TestConformance(t *testing.T) { agenttest.Run(t, subject()) }

// write makes a session as Claude Code 2.1.330 writes it, its bookkeeping lines included.
func write(t *testing.T, env []string, dir, session string, turns int) agenttest.Native {
	t.Helper()
	project := strings.Map(func(r rune) rune {
		if r < 128 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, dir)
	n := agenttest.Native{Main: filepath.Join(launch.Env(env).Home(), ".claude", "projects", project, session+".jsonl")}
	var file strings.Builder
	parent := any(nil)
	id := 0
	line := func(v map[string]any) {
		v["sessionId"] = session
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(raw)
		file.WriteByte('\n')
	}
	node := func(kind string, message any) {
		id++
		uuid := fmt.Sprintf("00000000-0000-4000-8000-%012d", id)
		line(map[string]any{
			"type": kind, "parentUuid": parent, "uuid": uuid, "isSidechain": false, "message": message,
			"cwd": dir, "timestamp": "2026-11-21T10:22:43.854Z", "version": "2.1.330",
		})
		parent = uuid
	}
	assistant := func(turn, part int, stop string, content ...any) map[string]any {
		return map[string]any{
			"id": fmt.Sprintf("msg_%d_%d", turn, part), "role": "assistant", "model": "claude-opus-5-5", "content": content,
			"stop_reason": stop, "usage": map[string]any{
				"input_tokens": 4, "cache_read_input_tokens": 1000 * turn, "cache_creation_input_tokens": 10,
				"output_tokens": 7, "cache_creation": map[string]any{"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6},
			},
		}
	}
	for i := 1; i <= turns; i++ {
		prompt := fmt.Sprintf("prompt-%d. do it", i)
		line(map[string]any{"type": "queue-operation", "operation": "enqueue", "content": prompt})
		node("user", map[string]any{"role": "user", "content": prompt})
		call := fmt.Sprintf("toolu_%d", i)
		text := map[string]any{"type": "text", "text": "let me see"}
		use := map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": map[string]any{"command": "ls"}}
		node("assistant", assistant(i, 0, "", text)) // one response in two lines
		node("assistant", assistant(i, 0, "tool_use", use))
		node("user", map[string]any{"role": "user",
			"content": []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": "out"}}})
		node("assistant", assistant(i, 1, "end_turn",
			map[string]any{"type": "text", "text": fmt.Sprintf("answer-%d. done\n<ok> & \u2028", i)}))
		line(map[string]any{"type": "last-prompt", "lastPrompt": prompt, "leafUuid": parent})
		n.Ends = append(n.Ends, int64(file.Len()))
	}
	agenttest.Put(t, n.Main, file.String())
	return n
}

// TestReadUsage: newer versions say how much the cache keeps for an hour, older ones do not.
func TestReadUsage(t *testing.T) {
	for _, tc := range []struct {
		creation string
		hour     int64
	}{
		{``, 0},
		{`,"cache_creation":null`, 0},
		{`,"cache_creation":{}`, 0},
		{`,"cache_creation":{"ephemeral_5m_input_tokens":6,"ephemeral_1h_input_tokens":4}`, 4},
		{`,"cache_creation":{"ephemeral_1h_input_tokens":400}`, 10}, // not more than all that was written
		{`,"cache_creation":{"ephemeral_1h_input_tokens":-4}`, 0},
	} {
		line := `{"type":"assistant","sessionId":"s-1","message":{"id":"msg_1","role":"assistant",` +
			`"model":"claude-opus-5-5","content":[],"usage":{"input_tokens":4,"cache_read_input_tokens":20,"cache_creation_input_tokens":10` +
			tc.creation + `,"output_tokens":7}}}` + "\n"
		all, err := (&claude.Agent{}).ReadUsage([]thread.Chunk{{File: "main", Data: []byte(line)}})
		want := thread.Usage{Input: 4, CacheRead: 20, CacheWrite: 10, CacheWriteHour: tc.hour, Output: 7}
		if err != nil || len(all) != 1 || all[0].Usage != want {
			t.Errorf("%q: %+v, %v", tc.creation, all, err)
		}
	}
}

func TestUpstreams(t *testing.T) {
	tests := []struct {
		name     string
		env      []string
		settings string
		want     string // empty for none
	}{
		{"default", nil, "", "https://api.anthropic.com"},
		{"environment", []string{"ANTHROPIC_BASE_URL=https://proxy.example/anthropic/"}, "",
			"https://proxy.example/anthropic"},
		{"settings win", []string{"ANTHROPIC_BASE_URL=https://a.example"},
			`{"env":{"ANTHROPIC_BASE_URL":"https://b.example"}}`, "https://b.example"},
		{"bedrock", []string{"CLAUDE_CODE_USE_BEDROCK=1"}, "", ""},
		{"not bedrock", []string{"CLAUDE_CODE_USE_BEDROCK=0"}, "", "https://api.anthropic.com"},
		{"vertex by settings", nil, `{"env":{"CLAUDE_CODE_USE_VERTEX":1}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			if tt.settings != "" {
				agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"), tt.settings)
			}
			got := agenttest.World(t, claude.New(launch.Config{}), append(tt.env, "HOME="+home)).Upstreams
			if got[""] != tt.want || (tt.want == "") != (got == nil) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

func TestLaunchSettings(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	agenttest.Fake(t, filepath.Join(bin, "claude"), "2.1.330")
	env := []string{"HOME=" + home, "PATH=" + bin}
	a := claude.New(launch.Config{Env: env, Hook: []string{"/a b/orchestrator", "hook"}})
	agenttest.Put(t, filepath.Join(home, "own.json"),
		`{"model":"x","env":{"MINE":"1"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
	spec := thread.LaunchSpec{
		Dir: home, StateDir: state, Env: env, BaseURL: "http://127.0.0.1:9/t/s", HookURL: "http://127.0.0.1:9/h/s",
		Flags: thread.Flags{Args: []string{"--settings", "own.json", "--allowedTools", "Bash"}},
	}
	l, err := a.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"--session-id", l.Session, "--settings", filepath.Join(state, "claude-settings.json"),
		"--allowedTools", "Bash"}
	if strings.Join(l.Args, "|") != strings.Join(want, "|") {
		t.Errorf("arguments %q, want %q", l.Args, want)
	}
	if e := launch.Env(l.Env); e.Value("_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL") != "1" ||
		e.Value("ORCHESTRATOR_HOOK_URL") != spec.HookURL || e.Value("ANTHROPIC_BASE_URL") != spec.BaseURL {
		t.Errorf("environment %q", l.Env)
	}
	var got struct {
		Model string
		Env   map[string]string
		Hooks map[string][]struct {
			Hooks []struct{ Type, Command string }
		}
	}
	raw, err := os.ReadFile(filepath.Join(state, "claude-settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Model != "x" || got.Env["MINE"] != "1" || got.Env["ANTHROPIC_BASE_URL"] != spec.BaseURL {
		t.Errorf("settings %+v", got)
	}
	if stop := got.Hooks["Stop"]; len(stop) != 2 || stop[0].Hooks[0].Command != "mine" ||
		stop[1].Hooks[0].Command != "'/a b/orchestrator' 'hook' 'Stop'" {
		t.Errorf("Stop hooks %+v", stop)
	}
	spec.Env = append(env, "ANTHROPIC_BASE_URL=https://proxy.example")
	l, err = a.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if v := launch.Env(l.Env).Value("_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL"); v != "" {
		t.Error("another provider is taken for Anthropic")
	}
}

// TestSearchesTools: a change of the tools costs no prompt cache where Claude Code searches for them. As the real one was
// seen to do it.
func TestSearchesTools(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "claude")
	agenttest.Fake(t, bin, "2.1.330")
	for _, c := range []struct {
		env      []string
		settings string
		model    string
		deferred bool
	}{
		{deferred: true},
		{env: []string{"ENABLE_TOOL_SEARCH="}, deferred: true},
		{env: []string{"ENABLE_TOOL_SEARCH=true"}, deferred: true},
		{env: []string{"ENABLE_TOOL_SEARCH=junk"}, deferred: true},
		{env: []string{"ENABLE_TOOL_SEARCH=auto:0"}, deferred: true},
		{env: []string{"ENABLE_TOOL_SEARCH=auto"}},
		{env: []string{"ENABLE_TOOL_SEARCH=auto:100"}},
		{env: []string{"ENABLE_TOOL_SEARCH=false"}},
		{env: []string{"ENABLE_TOOL_SEARCH=0"}},
		{env: []string{"ENABLE_TOOL_SEARCH=no"}},
		{env: []string{"ENABLE_TOOL_SEARCH=OFF"}},
		{env: []string{"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1", "ENABLE_TOOL_SEARCH=force"}},
		{settings: `{"env":{"ENABLE_TOOL_SEARCH":"false"}}`},
		{settings: `{"env":{"ENABLE_TOOL_SEARCH":"false"}}`, env: []string{"ENABLE_TOOL_SEARCH=true"}},
		{model: "claude-haiku-4-5", deferred: true},
		{model: "claude-3-5-haiku-20241022"},
	} {
		home, state := t.TempDir(), t.TempDir()
		if c.settings != "" {
			agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"), c.settings)
		}
		l, err := claude.New(launch.Config{}).Launch(t.Context(), thread.LaunchSpec{
			Dir: home, StateDir: state, Env: append([]string{"HOME=" + home, "PATH=" + filepath.Dir(bin) + ":/usr/bin:/bin"}, c.env...), Model: c.model, BaseURL: "http://127.0.0.1:1/t",
			MCP: &thread.MCPLaunch{Name: "orch", Command: []string{"/o"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if l.MCP.Deferred != c.deferred || !l.MCP.Live || l.MCP.Keeps == "" {
			t.Errorf("%+v: %+v", c, l.MCP)
		}
	}
}

// TestAddressOfTheGateway: the gateway stands where Claude Code's settings say that the model is, in the environment and in
// settings that outrank the person's.
func TestAddressOfTheGateway(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "claude")
	agenttest.Fake(t, bin, "2.1.330")
	for _, c := range []struct{ settings, variable, other string }{
		{`{}`, "ANTHROPIC_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL"},
		{`{"env":{"ANTHROPIC_BASE_URL":"http://company"}}`, "ANTHROPIC_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL"},
		{`{"env":{"CLAUDE_CODE_USE_FOUNDRY":"1","ANTHROPIC_FOUNDRY_BASE_URL":"http://company"}}`, "ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_BASE_URL"},
	} {
		home, state := t.TempDir(), t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"), c.settings)
		l, err := claude.New(launch.Config{}).Launch(t.Context(), thread.LaunchSpec{
			Dir: home, StateDir: state, Env: []string{"HOME=" + home, "PATH=" + filepath.Dir(bin)}, BaseURL: "http://127.0.0.1:1/t",
		})
		if err != nil {
			t.Fatal(err)
		}
		var ours struct{ Env map[string]string }
		raw, err := os.ReadFile(filepath.Join(state, "claude-settings.json"))
		if err == nil {
			err = json.Unmarshal(raw, &ours)
		}
		env := launch.Env(l.Env)
		if err != nil || ours.Env[c.variable] != "http://127.0.0.1:1/t" || env.Value(c.variable) != "http://127.0.0.1:1/t" ||
			ours.Env[c.other] != "" || env.Value(c.other) != "" {
			t.Errorf("%s: %v, settings %v, environment %q", c.settings, err, ours.Env, l.Env)
		}
	}
}

// TestProjectServersAreNotAskedAbout: where Claude Code is left our MCP server only, it does not ask about those of the
// project, in whatever folder above the thread's they are, and what the person rejected stays rejected.
func TestProjectServersAreNotAskedAbout(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	bin, sub := filepath.Join(home, "bin"), filepath.Join(home, "p", "sub")
	for _, dir := range []string{bin, sub} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	agenttest.Fake(t, filepath.Join(bin, "claude"), "2.1.330")
	env := []string{"HOME=" + home, "PATH=" + bin}
	a := claude.New(launch.Config{Env: env})
	server := &thread.MCPLaunch{Name: "orch", Command: []string{"/o", "mcp-bridge"}}
	for _, c := range []struct {
		name     string
		own, top string // .mcp.json of the folder and of the one above
		settings string
		mcp      *thread.MCPLaunch
		want     string
	}{
		{"none", "", "", "", server, ""},
		{"its own", `{"mcpServers":{"b":{"command":"x"},"a":{"url":"y"}}}`, "", "", server, "a b"},
		{"the one above", "", `{"mcpServers":{"up":{}}}`, "", server, "up"},
		{"both, one with a byte order mark", `{"mcpServers":{"a":{}}}`, "\ufeff" + `{"mcpServers":{"up":{}}}`, "", server, "a up"},
		{"rejected by the person", `{"mcpServers":{"a":{}}}`, "", `{"disabledMcpjsonServers":["mine"]}`, server, "mine a"},
		{"not JSON", `{"mcpServers":`, "", "", server, ""},
		{"odd", `{"mcpServers":["a"]}`, "", "", server, ""},
		{"its servers are started", `{"mcpServers":{"a":{}}}`, "", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for path, text := range map[string]string{filepath.Join(sub, ".mcp.json"): c.own,
				filepath.Join(home, "p", ".mcp.json"): c.top} {
				_ = os.Remove(path)
				if text != "" {
					agenttest.Put(t, path, text)
				}
			}
			_ = os.Remove(filepath.Join(state, "claude-settings.json"))
			spec := thread.LaunchSpec{Dir: sub, StateDir: state, Env: env, MCP: c.mcp}
			if c.settings != "" {
				spec.Flags.Args = []string{"--settings", c.settings}
			}
			if _, err := a.Launch(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
			var got struct {
				Rejected []string `json:"disabledMcpjsonServers"`
			}
			if raw, err := os.ReadFile(filepath.Join(state, "claude-settings.json")); err == nil {
				if err := json.Unmarshal(raw, &got); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Join(got.Rejected, " ") != c.want {
				t.Errorf("rejected %q, want %q", got.Rejected, c.want)
			}
		})
	}
}

// TestReadDirs: what is named is read without a question and not edited; the person's rules stay.
func TestReadDirs(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "claude"), "2.1.330")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}
	l, err := claude.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
		Dir: home, StateDir: state, Env: env, ReadDirs: []string{"/s/threads/a/read", "/odd*/read", "relative"},
		Flags: thread.Flags{Args: []string{"--settings",
			`{"permissions":{"allow":["Bash(ls)"],"ask":["Read(x)"],"defaultMode":"plan"}}`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Permissions any }
	if err := launch.ReadJSON(l.Args[len(l.Args)-1], &got); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(got.Permissions)
	want := `{"allow":["Bash(ls)","Read(//s/threads/a/read/**)"],"ask":["Read(x)"],"defaultMode":"plan",` +
		`"deny":["Edit(//s/threads/a/read/**)"]}`
	if err != nil || string(raw) != want {
		t.Errorf("permissions %s, want %s: %v", raw, want, err)
	}
}

func TestRules(t *testing.T) {
	agenttest.Rules(t, claude.New(launch.Config{}).Rules(), []agenttest.Screen{
		{Name: "new MCP servers", Want: thread.StateQuestion,
			Lines: " 3 new MCP servers found in this project\n Select any you wish to enable.\n\n ❯ [✔] one\n   [✔] two\n   [✔] three\n" +
				"   Enable selected\n\n Space to select · Esc to reject all"},
		{Name: "a new MCP server", Want: thread.StateQuestion,
			Lines: " New MCP server found in this project: one\n\n   Use this MCP server\n   Use this and all future MCP servers in this project\n" +
				" ❯ Continue without using this MCP server\n\n Enter to confirm · Esc to cancel"},
		{Name: "transcript", Want: thread.StateQuestion,
			Lines: "> hello\n● hi\n────\n  Showing detailed transcript · ctrl+o to toggle · ctrl+e to show all"},
		{Name: "approval", Lines: "Bash command\n\n touch a\n\nDo you want to proceed?\n❯ 1. Yes\n" +
			"  2. Yes, and always allow\n  3. No\n\nEsc to cancel · Tab to amend", Title: "✳ x", Want: thread.StateApproval},
		{Name: "trust", Lines: "Quick safety check: Is this a project you created or one you trust?\n❯ No, exit\n" +
			"  Yes, I trust this folder\nEnter to confirm · Esc to cancel", Want: thread.StateApproval},
		{Name: "new server", Lines: "New MCP server found in this project: x\n\n  Use this MCP server\n" +
			"❯ Continue without using this MCP server\n\nEnter to confirm · Esc to cancel", Want: thread.StateQuestion},
		{Name: "theme", Lines: "Choose the text style\n❯ 1. Dark mode\n  2. Light mode\n\n" +
			"Syntax theme: Monokai Extended (ctrl+t to disable)", Want: thread.StateQuestion},
		{Name: "working", Lines: "✽ Proofing… (3s)\n────\n❯ \n────\n ⏸ manual mode on · esc to interrupt · ← for agents",
			Want: thread.StateWorking},
		{Name: "busy title", Lines: "x", Title: "◐ Claude Code", Want: thread.StateWorking},
		{Name: "idle title", Lines: "❯ \n? for shortcuts", Title: "✳ Claude Code", Want: thread.StateIdle},
		{Name: "nothing", Lines: "❯ \n? for shortcuts"},
	})
}

// TestWindows: what the person configured of the agent's models is read where the agent reads it.
func TestWindows(t *testing.T) {
	for _, tc := range []struct{ env, config, want string }{
		{"CLAUDE_CODE_DISABLE_1M_CONTEXT=1", "", `{"claude*":200000}`},
		{"", `{"env":{"CLAUDE_CODE_DISABLE_1M_CONTEXT":"true"}}`, `{"claude*":200000}`},
		{"CLAUDE_CODE_DISABLE_1M_CONTEXT=0", `{}`, `null`},
	} {
		home := t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".claude", "settings.json"), tc.config)
		got, err := json.Marshal(agenttest.World(t, claude.New(launch.Config{}), []string{"HOME=" + home, tc.env}).Windows)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s %s: %s, %v, want %s", tc.env, tc.config, got, err, tc.want)
		}
	}
}
