package gemini_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func subject() agenttest.Subject {
	return agenttest.Subject{
		New:        func(c launch.Config) thread.Agent { return gemini.New(c) },
		Command:    "gemini",
		OldVersion: "0.1.9", NewVersion: "0.61.0",
		Env: []string{"GEMINI_API_KEY=dummy"},
		Configure: func(t *testing.T, home string) {
			agenttest.Put(t, filepath.Join(home, ".gemini", "settings.json"),
				"{ // mine\n\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}},}")
			agenttest.Put(t, filepath.Join(home, ".gemini", "trustedFolders.json"), fmt.Sprintf(`{%q:"TRUST_FOLDER"}`, filepath.Dir(home)))
			for _, name := range []string{"tmp", "history"} { // as Gemini CLI makes them
				if err := os.MkdirAll(filepath.Join(home, ".gemini", name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		},
		Gateway: true, Resumes: true, Chooses: true,
		NewSession: launch.UUID,
		Write:      write,
	}
}

func TestConformance(t *testing.T) { agenttest.Run(t, subject()) }

type object = map[string]any

// write makes a chat file as Gemini CLI 0.61.0 writes it, and registers the folder.
func write(t *testing.T, env []string, dir, session string, turns int) agenttest.Native {
	t.Helper()
	home := filepath.Join(launch.Env(env).Home(), ".gemini")
	registry, err := json.Marshal(object{"projects": object{dir: "work"}})
	if err != nil {
		t.Fatal(err)
	}
	agenttest.Put(t, filepath.Join(home, "projects.json"), string(registry))
	n := agenttest.Native{Main: filepath.Join(home, "tmp", "work", "chats",
		"session-2026-11-21T10-32-"+session[:8]+".jsonl")}
	var file strings.Builder
	line := func(v object) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(raw)
		file.WriteByte('\n')
	}
	sum := sha256.Sum256([]byte(dir))
	line(object{"sessionId": session, "projectHash": hex.EncodeToString(sum[:]), "startTime": "2026-11-21T10:32:20.421Z",
		"kind": "main"})
	for i := 1; i <= turns; i++ {
		id := func(part int) string { return fmt.Sprintf("id-%d-%d", i, part) }
		tokens := object{"input": 12000, "output": 18, "cached": 9000, "thoughts": 2, "tool": 0, "total": 12020}
		line(object{"id": id(0), "type": "user", "content": []any{object{"text": fmt.Sprintf("prompt-%d. do it", i)}}})
		line(object{"$set": object{"lastUpdated": "2026-11-21T10:32:20.435Z"}})
		line(object{"id": id(1), "type": "gemini", "content": "", "tokens": tokens, "model": "gemini-2.5-pro"})
		line(object{"id": id(1), "type": "gemini", "content": "", "tokens": tokens, "model": "gemini-2.5-pro",
			"toolCalls": []any{object{"id": "c", "name": "run_shell_command"}}})
		line(object{"id": id(2), "type": "user",
			"content": []any{object{"functionResponse": object{"id": "c", "name": "run_shell_command"}}}})
		line(object{"id": id(3), "type": "gemini", "content": fmt.Sprintf("answer-%d. done", i), "tokens": tokens,
			"model": "gemini-2.5-pro"})
		line(object{"$set": object{"sessionId": session}})
		n.Ends = append(n.Ends, int64(file.Len()))
	}
	agenttest.Put(t, n.Main, file.String())
	return n
}

func TestUpstreams(t *testing.T) {
	const google = "https://generativelanguage.googleapis.com"
	auth := func(kind string) string { return fmt.Sprintf(`{"security":{"auth":{"selectedType":%q}}}`, kind) }
	tests := []struct {
		name, settings, dotenv string
		env                    []string
		want                   string // empty for none
	}{
		{"default", "", "", nil, google},
		{"key", auth("gemini-api-key"), "", nil, google},
		{"own address", auth("gemini-api-key"), "", []string{"GOOGLE_GEMINI_BASE_URL=https://proxy.example/g/"},
			"https://proxy.example/g"},
		{"by file", "", "# x\nexport GOOGLE_GEMINI_BASE_URL=\"https://file.example\"\nGEMINI_API_KEY=x\n", nil,
			"https://file.example"},
		{"environment wins over the file", "", "GOOGLE_GEMINI_BASE_URL=https://file.example",
			[]string{"GOOGLE_GEMINI_BASE_URL=https://e.example"}, "https://e.example"},
		{"google login", auth("oauth-personal"), "", nil, ""},
		{"vertex", auth("vertex-ai"), "", nil, ""},
		{"vertex by environment", "", "", []string{"GOOGLE_GENAI_USE_VERTEXAI=true"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			if tt.settings != "" {
				agenttest.Put(t, filepath.Join(home, ".gemini", "settings.json"), tt.settings)
			}
			if tt.dotenv != "" {
				agenttest.Put(t, filepath.Join(home, ".gemini", ".env"), tt.dotenv)
			}
			got := agenttest.World(t, gemini.New(launch.Config{}), append(tt.env, "HOME="+home)).Upstreams
			if got[""] != tt.want || (tt.want == "") != (got == nil) {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

func TestRelaunchOnlyWhileTrustIsOpen(t *testing.T) {
	tests := []struct {
		name, trusted, settings string
		env                     []string
		want                    string
	}{
		{"open", "", "", nil, ""},
		{"trusted above", "/w", "", nil, "true"},
		{"trusted elsewhere", "/other", "", nil, ""},
		{"switched off", "", `{"security":{"folderTrust":{"enabled":false}}}`, nil, "true"},
		{"by environment", "", "", []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}, "true"},
		{"the person's word", "/w", "", []string{"GEMINI_CLI_NO_RELAUNCH="}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
			agenttest.Fake(t, filepath.Join(home, "bin", "gemini"), "0.61.0")
			if tt.trusted != "" {
				agenttest.Put(t, filepath.Join(home, ".gemini", "trustedFolders.json"),
					fmt.Sprintf(`{%q:"TRUST_FOLDER"}`, tt.trusted))
			}
			if tt.settings != "" {
				agenttest.Put(t, filepath.Join(home, ".gemini", "settings.json"), tt.settings)
			}
			env := append(tt.env, "HOME="+home, "PATH="+filepath.Join(home, "bin"))
			l, err := gemini.New(launch.Config{Env: env}).Launch(t.Context(),
				thread.LaunchSpec{Dir: "/w/sub", StateDir: t.TempDir(), Env: env})
			if err != nil {
				t.Fatal(err)
			}
			if got := launch.Env(l.Env).Value("GEMINI_CLI_NO_RELAUNCH"); got != tt.want {
				t.Errorf("GEMINI_CLI_NO_RELAUNCH=%q, want %q", got, tt.want)
			}
		})
	}
}

// TestStub has the second file in place that makes Gemini CLI delete a resumed session.
func TestStub(t *testing.T) {
	home, dir, state := t.TempDir(), t.TempDir(), t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home}
	a := gemini.New(launch.Config{Env: env})
	session := launch.UUID()
	n := write(t, env, dir, session, 2)
	stub := filepath.Join(filepath.Dir(n.Main), "session-2026-11-21T11-00-"+session[:8]+".jsonl")
	agenttest.Put(t, stub, fmt.Sprintf("{\"sessionId\":%q,\"kind\":\"main\"}\n", session))
	spec := thread.TranscriptSpec{Session: session, Dir: dir, Env: env}
	chunks, err := a.ReadTranscript(t.Context(), spec)
	if err != nil || len(chunks) != 1 || !strings.Contains(string(chunks[0].Data), "answer-2.") {
		t.Fatalf("%d chunks: %v", len(chunks), err)
	}
	sum := sha256.Sum256(chunks[0].Data)
	spec.Marks = []thread.Mark{{File: "main", Size: int64(len(chunks[0].Data)), SHA256: hex.EncodeToString(sum[:])}}
	if n, whole, err := a.Verify(t.Context(), spec); whole || n != spec.Marks[0].Size || err != nil {
		t.Errorf("with a stub: %d bytes, whole %v, %v", n, whole, err)
	}
	_, err = a.Rebuild(t.Context(), thread.RebuildSpec{
		Session: session, FromDirs: []string{dir}, Dir: dir, StateDir: state, Env: env,
		Files: []thread.TranscriptFile{{File: "main", Data: chunks[0].Data}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, whole, err := a.Verify(t.Context(), spec); !whole || err != nil {
		t.Errorf("after the rebuild: whole %v, %v", whole, err)
	}
	if kept, err := filepath.Glob(filepath.Join(state, "gemini-stub-*")); err != nil || len(kept) != 1 {
		t.Errorf("kept %q (%v)", kept, err)
	}
}

func TestRules(t *testing.T) {
	agenttest.Rules(t, gemini.New(launch.Config{}).Rules(), []agenttest.Screen{
		{Name: "approval title", Lines: "x", Title: "✋  Action Required (repo)   ", Want: thread.StateApproval},
		{Name: "approval", Lines: "│ Allow execution of [Shell]?\n│ ● 1. Allow once\n│   2. Allow for this session",
			Want: thread.StateApproval},
		{Name: "trust", Lines: "│ Do you trust the files in this folder?\n│ ● 1. Trust folder (repo)",
			Want: thread.StateApproval},
		{Name: "working", Lines: "x", Title: "✦  Working… (repo)", Want: thread.StateWorking},
		{Name: "thinking", Lines: "⠋ Thinking... (esc to cancel, 0s)\n? for shortcuts", Want: thread.StateWorking},
		{Name: "ready", Lines: "x", Title: "◇  Ready (repo)", Want: thread.StateIdle},
		{Name: "waits", Lines: "*   Type your message or @path/to/file", Want: thread.StateIdle},
		{Name: "nothing", Lines: "Gemini CLI"},
	})
}
