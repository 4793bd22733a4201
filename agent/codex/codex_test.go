package codex_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func subject() agenttest.Subject {
	return agenttest.Subject{
		New:        func(c launch.Config) thread.Agent { return codex.New(c) },
		Command:    "codex",
		OldVersion: "0.30.0", NewVersion: "0.169.0",
		Env: []string{"OPENAI_API_KEY=sk-dummy"},
		Configure: func(t *testing.T, home string) {
			agenttest.Put(t, filepath.Join(home, ".codex", "config.toml"), "model = \"gpt-5.5\"\n")
		},
		Gateway: true, Resumes: true,
		NewSession: launch.UUID,
		Write:      write,
	}
}

func TestConformance(t *testing.T) { agenttest.Run(t, subject()) }

type object = map[string]any

// write makes a rollout as Codex 0.169.0 writes it.
func write(t *testing.T, env []string, dir, session string, turns int) agenttest.Native {
	t.Helper()
	n := agenttest.Native{Main: filepath.Join(launch.Env(env).Home(), ".codex", "sessions", "2026", "11", "21",
		"rollout-2026-11-21T10-28-50-"+session+".jsonl")}
	var file strings.Builder
	ordinal := 0
	line := func(kind string, payload object) {
		raw, err := json.Marshal(object{"timestamp": "2026-11-21T10:28:50.563Z", "ordinal": ordinal, "type": kind,
			"payload": payload})
		if err != nil {
			t.Fatal(err)
		}
		ordinal++
		file.Write(raw)
		file.WriteByte('\n')
	}
	message := func(role, kind, text string) {
		line("response_item", object{"type": "message", "role": role, "content": []any{object{"type": kind, "text": text}}})
	}
	total := int64(0)
	tokens := func(turn string, input int64) {
		total += input
		u := object{"input_tokens": input, "cached_input_tokens": input / 2, "cache_write_input_tokens": 0,
			"output_tokens": 6, "total_tokens": input + 6}
		line("token_usage_record", object{"thread_id": session, "turn_id": turn, "session_id": session, "usage": u})
		line("event_msg",
			object{"type": "token_count", "info": object{"last_token_usage": u, "model_context_window": 258400}})
	}
	line("session_meta", object{"session_id": session, "id": session, "cwd": dir, "cli_version": "0.169.0",
		"source": "cli", "history_mode": "paginated"})
	for i := 1; i <= turns; i++ {
		turn := fmt.Sprintf("turn-%d", i)
		line("event_msg", object{"type": "task_started", "turn_id": turn, "model_context_window": 258400})
		message("user", "input_text", "<environment_context>\n  <cwd>"+dir+"</cwd>")
		line("turn_context", object{"turn_id": turn, "cwd": dir, "model": "gpt-5.5"})
		message("user", "input_text", fmt.Sprintf("prompt-%d. do it", i))
		line("response_item",
			object{"type": "function_call", "name": "exec_command", "arguments": `{"cmd":"ls"}`, "call_id": turn})
		tokens(turn, 9743)
		line("response_item", object{"type": "function_call_output", "call_id": turn, "output": "out"})
		message("assistant", "output_text", fmt.Sprintf("answer-%d. done", i))
		tokens(turn, 9800)
		line("event_msg",
			object{"type": "task_complete", "turn_id": turn, "last_agent_message": fmt.Sprintf("answer-%d. done", i)})
		n.Ends = append(n.Ends, int64(file.Len()))
	}
	agenttest.Put(t, n.Main, file.String())
	return n
}

func TestUpstreams(t *testing.T) {
	tests := []struct {
		name, config, auth string
		env                []string
		want               string // empty for none
		args               string // the override for the gateway
		broken             bool
	}{
		{"default", "", "", nil, "https://api.openai.com", `openai_base_url="http://gw/v1"`, false},
		{"ignored variable", "", "", []string{"OPENAI_BASE_URL=https://x.example/v1"}, "https://api.openai.com",
			`openai_base_url="http://gw/v1"`, false},
		{"own address", "openai_base_url = \"https://proxy.example/openai/v1/\"", "", nil, "https://proxy.example/openai",
			`openai_base_url="http://gw/v1"`, false},
		{"chatgpt login", "", `{"auth_mode":"chatgpt","tokens":{"a":"b"}}`, nil, "https://chatgpt.com/backend-api/codex",
			`openai_base_url="http://gw"`, false},
		{"key login", "", `{"OPENAI_API_KEY":"k","tokens":null}`, nil, "https://api.openai.com",
			`openai_base_url="http://gw/v1"`, false},
		{"provider", "model_provider = \"acme\"\n[model_providers.acme]\nbase_url = \"https://acme.example/v1\"", "", nil,
			"https://acme.example", `model_providers.acme.base_url="http://gw/v1"`, false},
		{"by profile", "profile = \"p\"\n[profiles.p]\nmodel_provider = \"acme\"\n[model_providers.acme]\n" +
			"base_url = \"https://acme.example\"", "", nil, "https://acme.example", `model_providers.acme.base_url="http://gw"`, false},
		{"ollama", "model_provider = \"ollama\"", "", []string{"CODEX_OSS_BASE_URL=http://box:1/v1"}, "http://box:1", "", false},
		{"bedrock", "model_provider = \"amazon-bedrock\"", "", nil, "", "", false},
		{"odd name", "model_provider = \"a.b\"\n[model_providers.\"a.b\"]\nbase_url = \"https://acme.example\"", "",
			nil, "", "", false},
		{name: "broken", config: "model_provider = ", broken: true},
		{name: "broken login", auth: "{", broken: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			agenttest.Put(t, filepath.Join(home, ".codex", "config.toml"), tt.config)
			if tt.auth != "" {
				agenttest.Put(t, filepath.Join(home, ".codex", "auth.json"), tt.auth)
			}
			agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
			agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
			env := append(tt.env, "HOME="+home, "PATH="+filepath.Join(home, "bin"))
			a := codex.New(launch.Config{Env: env})
			if tt.broken {
				for _, flags := range []thread.Flags{{}, {Args: []string{"-c", "model=\"x\""}}} {
					if w, err := a.World(thread.WorldSpec{Dir: home, Env: env, Flags: flags}); err == nil {
						t.Errorf("nobody knows where its model is, and it is sent to %v", w.Upstreams)
					}
				}
				return
			}
			got := agenttest.World(t, a, env).Upstreams
			if got[""] != tt.want || (tt.want == "") != (got == nil) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
			l, err := a.Launch(t.Context(), thread.LaunchSpec{Dir: home, StateDir: t.TempDir(), Env: env, BaseURL: "http://gw"})
			if err != nil {
				t.Fatal(err)
			}
			if tt.args != "" && !slices.Contains(l.Args, tt.args) {
				t.Errorf("%q is not in %q", tt.args, l.Args)
			}
			if tt.name == "ollama" && launch.Env(l.Env).Value("CODEX_OSS_BASE_URL") != "http://gw/v1" {
				t.Errorf("environment %q", l.Env)
			}
		})
	}
}

func TestLaunch(t *testing.T) {
	home := t.TempDir()
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}
	a := codex.New(launch.Config{Env: env, Hook: []string{"/o", "hook"}})
	spec := thread.LaunchSpec{
		Dir: home, StateDir: t.TempDir(), Env: env, Session: "01a1fda6-d076-7ac1-a0a2-3974292a4512", Resume: true,
		Flags: thread.Flags{PermissionMode: "on-request/workspace-write"},
	}
	l, err := a.Launch(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	want := "resume -c features.daemon_auto_start=false -c sandbox_workspace_write.writable_roots=[\"" + spec.StateDir +
		"/drop\"] -C " + spec.Dir + " -a on-request -s workspace-write -- " + spec.Session
	if got := strings.Join(l.Args, " "); got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
	spec.HookURL = "http://127.0.0.1:1/h"
	l, err = a.Launch(t.Context(), spec)
	if got := strings.Join(l.Args, " "); err != nil || got != want {
		t.Errorf("arguments %q, want %q: Codex's notify shows prompts to others on the machine; %v", got, want, err)
	}
	spec.Flags.PermissionMode = "everything"
	if _, err := a.Launch(t.Context(), spec); err == nil {
		t.Error("took an unknown permission mode")
	}
}

// TestForkOfCodexOwn reads and repairs a session that is based on its parent's rollout.
func TestForkOfCodexOwn(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	a := codex.New(launch.Config{Env: env})
	parent, child := launch.UUID(), launch.UUID()
	p := write(t, env, "/w", parent, 2)
	c := filepath.Join(filepath.Dir(p.Main), "rollout-2026-11-21T11-00-00-"+child+".jsonl")
	meta := fmt.Sprintf(`{"timestamp":"2026-11-21T11:00:00Z","ordinal":9,"type":"session_meta","payload":{"id":%q,`+
		`"history_base":{"thread_id":%q,"end_byte_offset":%d}}}`, child, parent, p.Ends[0])
	agenttest.Put(t, c, meta+"\n")
	chunks, err := a.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: child, Env: env})
	if err != nil || len(chunks) != 2 || chunks[0].File != "main" || chunks[1].File != "base/"+parent {
		t.Fatalf("%d chunks: %v", len(chunks), err)
	}
	var files []thread.TranscriptFile
	for _, ch := range chunks {
		files = append(files, thread.TranscriptFile{File: ch.File, Data: ch.Data})
	}
	if err := os.Remove(p.Main); err != nil {
		t.Fatal(err)
	}
	fresh := launch.UUID()
	if _, err := a.Rebuild(t.Context(), thread.RebuildSpec{Session: child, NewSession: fresh, Dir: "/w",
		StateDir: t.TempDir(), Env: env, Files: files}); err != nil {
		t.Fatal(err)
	}
	again, err := a.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: fresh, Env: env})
	if err != nil || len(again) != 2 || string(again[1].Data) != string(files[1].Data) {
		t.Errorf("the parent is not back: %d chunks, %v", len(again), err)
	}
}

func TestRules(t *testing.T) {
	agenttest.Rules(t, codex.New(launch.Config{}).Rules(), []agenttest.Screen{
		{Name: "pager", Want: thread.StateQuestion,
			Lines: "/ D I F F / / /\n+ a line\n─── 100% ─\n ↑/↓ to scroll   pgup/pgdn to page   home/end to jump\n q to quit"},
		{Name: "approval", Lines: "Would you like to run the following command?\n\n$ touch a\n\n› 1. Yes, proceed (y)\n" +
			"  3. No (esc)\n\nPress enter to confirm or esc to cancel", Want: thread.StateApproval},
		{Name: "approval title", Lines: "x", Title: "[ ! ] Action Required | repo", Want: thread.StateApproval},
		{Name: "working title", Lines: "x", Title: "⠹ do it | repo", Want: thread.StateWorking},
		{Name: "working", Lines: "• Working (0s • esc to interrupt)\n\n› Ask Codex to do anything\n",
			Want: thread.StateWorking},
		{Name: "sign in", Lines: "Sign in with ChatGPT to use Codex", Want: thread.StateUnauthorised},
		{Name: "new model", Lines: "Meet GPT-6 Sol\n\n› 1. Try new model\n  2. Use existing model\n\n" +
			"enter/esc confirm · ^c quit", Title: "repo", Want: thread.StateQuestion},
		{Name: "idle", Lines: "› Ask Codex to do anything\n? for shortcuts", Title: "repo", Want: thread.StateIdle},
		{Name: "nothing", Lines: "loading", Title: "repo"},
	})
}

// TestShield: the sandbox writes to temporary folders, and keeps out of those that are to be read only.
func TestShield(t *testing.T) {
	const slash, dir = "sandbox_workspace_write.exclude_slash_tmp=true",
		"sandbox_workspace_write.exclude_tmpdir_env_var=true"
	home := t.TempDir()
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
	for _, tt := range []struct {
		read, tmpdir string
		want         []string
	}{
		{"/home/x/.local/state/read", "/var/tmp", nil},
		{"/tmp/state/read", "", []string{slash}},
		{"/tmp/state/read", "/tmp", []string{slash, dir}},
		{"/var/tmp/state/read", "/var/tmp", []string{dir}},
		{"/tmporary/read", "/var", nil},
	} {
		env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin"), "TMPDIR=" + tt.tmpdir}
		l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(),
			thread.LaunchSpec{Dir: home, StateDir: home, Env: env, ReadDirs: []string{tt.read}})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(l.Args, func(a string) bool { return !strings.HasPrefix(a, "sandbox_workspace_write.exclude") })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s beside TMPDIR=%s: %q, want %q", tt.read, tt.tmpdir, got, tt.want)
		}
	}
}

// TestHandOver: the sandbox may write to a folder of the thread's own, unless somebody has configured where it may.
func TestHandOver(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             bool
	}{
		{"plain", "", "", true},
		{"other settings", ".codex/config.toml", "model = \"x\"\n", true},
		{"own roots", ".codex/config.toml", "[sandbox_workspace_write]\nwritable_roots = [\"/x\"]\n", false},
		{"a profile of permissions", ".codex/config.toml", "default_permissions = \"p\"\n", false},
		{"roots of the project", "work/.codex/config.toml", "sandbox_workspace_write.writable_roots = [\"/x\"]\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
			agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
			if tt.file != "" {
				agenttest.Put(t, filepath.Join(home, tt.file), tt.text)
			}
			state, work := filepath.Join(home, "state \"of\" ä"), filepath.Join(home, "work", "below")
			env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}
			l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(),
				thread.LaunchSpec{Dir: work, StateDir: state, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			want := `sandbox_workspace_write.writable_roots=["` + home + `/state \"of\" ä/drop"]`
			if slices.Contains(l.Args, want) != tt.want {
				t.Errorf("%q", l.Args)
			}
			info, err := os.Lstat(filepath.Join(state, thread.DropFolder))
			if tt.want && (err != nil || info.Mode() != fs.ModeDir|0o700) || !tt.want && err == nil {
				t.Errorf("the folder: %v", err)
			}
		})
	}
}

// TestPath: commands find our program although Codex resets PATH, unless the person wants a login shell.
func TestPath(t *testing.T) {
	for _, tt := range []struct {
		name, config, level, want string
		bash                      bool
	}{
		{"plain", "", "", "2", true},
		{"deeper", "", "3", "3", true},
		{"odd", "", "x", "2", true},
		{"login shell wanted", "allow_login_shell = true", "1", "1", false},
	} {
		home := t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".codex", "config.toml"), tt.config)
		agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
		agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
		env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin"), "SHLVL=" + tt.level}
		l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(),
			thread.LaunchSpec{Dir: home, StateDir: home, Env: env, Bin: "/s/bin"})
		if err != nil {
			t.Fatal(err)
		}
		e := launch.Env(l.Env)
		if slices.Contains(l.Args, "allow_login_shell=false") != tt.bash || e.Value("SHLVL") != tt.want ||
			e.Value("ORCHESTRATOR_BIN") != "/s/bin/orchestrator" {
			t.Errorf("%s: %q with SHLVL=%s", tt.name, l.Args, e.Value("SHLVL"))
		}
	}
}

// TestSecretStaysOutOfArguments: others read arguments, and Codex prints addresses.
func TestSecretStaysOutOfArguments(t *testing.T) {
	const mark = "orchestrator-secret:5ecret"
	for _, tt := range []struct {
		name, config, variable, want string
		env, args                    []string
	}{
		{"own provider", "", "OPENAI_ORGANIZATION", mark, nil,
			[]string{`openai_base_url="http://127.0.0.1:1/t/-/v1"`, `shell_environment_policy.set.OPENAI_ORGANIZATION=""`}},
		{"with an organisation", "", "OPENAI_ORGANIZATION", mark + ";org-1", []string{"OPENAI_ORGANIZATION=org-1"},
			[]string{`shell_environment_policy.set.OPENAI_ORGANIZATION="org-1"`}},
		{"another", "model_provider = \"acme\"\n[model_providers.acme]\nbase_url = \"https://acme.example/v1\"",
			"ORCHESTRATOR_GATEWAY_SECRET", mark, nil,
			[]string{`model_providers.acme.base_url="http://127.0.0.1:1/t/-/v1"`,
				`model_providers.acme.env_http_headers.X-Orchestrator-Secret="ORCHESTRATOR_GATEWAY_SECRET"`,
				`shell_environment_policy.set.ORCHESTRATOR_GATEWAY_SECRET=""`}},
		{"local", "model_provider = \"ollama\"", "CODEX_OSS_BASE_URL", "http://127.0.0.1:1/t/5ecret/v1", nil, nil},
	} {
		home := t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".codex", "config.toml"), tt.config)
		agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
		agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
		env := append(tt.env, "HOME="+home, "PATH="+filepath.Join(home, "bin"))
		l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
			Dir: home, StateDir: t.TempDir(), Env: env, BaseURL: "http://127.0.0.1:1/t/5ecret"})
		if err != nil {
			t.Fatal(err)
		}
		if got := launch.Env(l.Env).Value(tt.variable); got != tt.want {
			t.Errorf("%s: %s is %q, want %q", tt.name, tt.variable, got, tt.want)
		}
		for _, arg := range tt.args {
			if !slices.Contains(l.Args, arg) {
				t.Errorf("%s: %q is not in %q", tt.name, arg, l.Args)
			}
		}
		if strings.Contains(strings.Join(l.Args, "\n"), "5ecret") {
			t.Errorf("%s: the secret is in %q", tt.name, l.Args)
		}
	}
}

// TestWindows: what the person configured of the agent's models is read where the agent reads it.
func TestWindows(t *testing.T) {
	for _, tc := range []struct{ env, config, want string }{
		{"", "model_context_window = 64000", `{"*":64000}`},
		{"", "profile = \"p\"\nmodel_context_window = 1\n[profiles.p]\nmodel_context_window = 9000", `{"*":9000}`},
		{"", "model_context_window = \"many\"", `null`},
		{"", "", `null`},
	} {
		home := t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".codex", "config.toml"), tc.config)
		got, err := json.Marshal(agenttest.World(t, codex.New(launch.Config{}), []string{"HOME=" + home, tc.env}).Windows)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s %s: %s, %v, want %s", tc.env, tc.config, got, err, tc.want)
		}
	}
}
