package opencode_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"

	_ "github.com/mattn/go-sqlite3"
)

func subject() agenttest.Subject {
	n := 0
	return agenttest.Subject{
		New:        func(c launch.Config) thread.Agent { return opencode.New(c) },
		Command:    "opencode",
		OldVersion: "0.5.1", NewVersion: "1.18.33",
		Env: []string{"ANTHROPIC_API_KEY=sk-dummy"},
		Configure: func(t *testing.T, home string) {
			agenttest.Put(t, filepath.Join(home, ".config", "opencode", "opencode.json"),
				`{"model":"anthropic/claude-opus-5-5"}`)
		},
		Gateway: true, Resumes: true, CannotFork: true,
		NewSession: func() string { n++; return fmt.Sprintf("ses_dff924eaeffe%014d", n) },
		Write:      write,
	}
}

func TestConformance(t *testing.T) { agenttest.Run(t, subject()) }

// schema is what is used of the tables of opencode 1.18.33.
const schema = `
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
	slug text NOT NULL, directory text NOT NULL,
	title text NOT NULL, version text NOT NULL, agent text, model text, permission text,
	time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
	time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
	time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);`

type object = map[string]any

func open(t *testing.T, env []string) *sql.DB {
	t.Helper()
	path := filepath.Join(launch.Env(env).Home(), ".local", "share", "opencode", "opencode.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// message puts one message with its parts into the database.
func message(t *testing.T, db *sql.DB, session string, n int, info object, parts ...object) {
	t.Helper()
	id := fmt.Sprintf("msg_%012x001abcdefghij", n)
	exec(t, db, `INSERT INTO message VALUES (?, ?, 1, 1, ?)`, id, session, asJSON(t, info))
	for i, p := range parts {
		exec(t, db, `INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)`, fmt.Sprintf("prt_%012x%03dabcdefghijk", n, i), id, session,
			asJSON(t, p))
	}
}

func assistant(finish string) object {
	return object{
		"role": "assistant", "modelID": "fake-1", "providerID": "fm", "finish": finish, "cost": 0.25,
		"time": object{"created": 1795303520258, "completed": 1795303522998}, "path": object{"cwd": "/w", "root": "/w"},
		"tokens": object{"total": 7690, "input": 1536, "output": 10, "reasoning": 1,
			"cache": object{"write": 0, "read": 6144}},
	}
}

// write makes a session in a database such as opencode's.
func write(t *testing.T, env []string, dir, session string, turns int) agenttest.Native {
	t.Helper()
	db := open(t, env)
	exec(t, db, schema)
	exec(t, db, `INSERT INTO session VALUES (?, 'p', NULL, 'nimble-river', ?, 'A title', '1.18.33', 'build', `+
		`'{"id":"fake-1"}', NULL, 1795303518545, 1795303518999)`, session, dir)
	for i := 1; i <= turns; i++ {
		user := object{"role": "user", "time": object{"created": 1}, "summary": object{"diffs": []any{}}}
		message(t, db, session, 10*i, user, object{"type": "text", "text": fmt.Sprintf("prompt-%d. do it", i)})
		message(t, db, session, 10*i+1, assistant("tool-calls"), object{"type": "step-start"},
			object{"type": "tool", "tool": "bash", "callID": "c", "state": object{"status": "completed", "output": "out"}})
		message(t, db, session, 10*i+2, assistant("stop"), object{"type": "text", "text": fmt.Sprintf("answer-%d. done", i)})
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return agenttest.Native{}
}

// TestUnfinished reads a session while opencode works on its answer.
func TestUnfinished(t *testing.T) {
	env := []string{"HOME=" + t.TempDir()}
	session := "ses_dff924eaeffe00000000000001"
	write(t, env, "/w", session, 1)
	db := open(t, env)
	a := opencode.New(launch.Config{Env: env})
	read := func(marks []thread.Mark) string {
		t.Helper()
		chunks, err := a.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: session, Env: env, Marks: marks})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			if c.File == "main" {
				return string(c.Data)
			}
		}
		return ""
	}
	before := strings.Count(read(nil), "\n")
	message(t, db, session, 100, object{"role": "user"}, object{"type": "text", "text": "next"})
	message(t, db, session, 101, object{"role": "assistant", "time": object{"created": 1}},
		object{"type": "text", "text": "half an ans"})
	if got := read(nil); strings.Count(got, "\n") != before+1 || strings.Contains(got, "half an ans") {
		t.Errorf("an unfinished answer was read: %d lines", strings.Count(got, "\n"))
	}
	message(t, db, session, 110, object{"role": "user"}, object{"type": "text", "text": "after a crash"})
	if got := read(nil); strings.Count(got, "\n") != before+3 || !strings.Contains(got, "half an ans") {
		t.Errorf("a given up answer was left out: %d lines", strings.Count(got, "\n"))
	}
}

func TestUpstreams(t *testing.T) {
	tests := []struct {
		name, config, auth string
		env                []string
		want               string
	}{
		{"nothing", "", "", nil, `null`},
		{"key", "", "", []string{"ANTHROPIC_API_KEY=x"},
			`{"":"https://api.anthropic.com","anthropic":"https://api.anthropic.com"}`},
		{"login", "", `{"openai":{"type":"api","key":"k"}}`, nil,
			`{"":"https://api.openai.com","openai":"https://api.openai.com"}`},
		{"oauth", "", `{"anthropic":{"type":"oauth"}}`, []string{"ANTHROPIC_API_KEY=x"}, `null`},
		{"own provider", "{ // mine\n\"model\":\"fm/x\"," +
			"\"provider\":{\"fm\":{\"options\":{\"baseURL\":\"http://box:1/v1\"}}}}", "", []string{"GEMINI_API_KEY=x"},
			`{"":"http://box:1","fm":"http://box:1","google":"https://generativelanguage.googleapis.com"}`},
		{"placeholder", `{"provider":{"fm":{"options":{"baseURL":"{env:X}/v1"}}}}`, "", []string{"X=http://box:2"},
			`{"":"http://box:2","fm":"http://box:2"}`},
		{"placeholder of its own", `{"provider":{"fm":{"options":{"baseURL":"https://${ACCOUNT}.example"}}}}`, "", nil, `null`},
		{"other key for the address", `{"provider":{"fm":{"api":"http://box:3/v1"}}}`, "", nil,
			`{"":"http://box:3","fm":"http://box:3"}`},
		{"address of a model", `{"provider":{"fm":{"api":"http://box:3","models":{"x":{"provider":{"api":"http://box:4"}}}}}}`, "",
			nil, `null`},
		{"variable", "", "", []string{"ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=http://box:5/v1"},
			`{"":"http://box:5","anthropic":"http://box:5"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			if tt.config != "" {
				agenttest.Put(t, filepath.Join(home, ".config", "opencode", "opencode.jsonc"), tt.config)
			}
			if tt.auth != "" {
				agenttest.Put(t, filepath.Join(home, ".local", "share", "opencode", "auth.json"), tt.auth)
			}
			got := asJSON(t, agenttest.World(t, opencode.New(launch.Config{}), append(tt.env, "HOME="+home)).Upstreams)
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestLaunchConfiguration(t *testing.T) {
	home, state := t.TempDir(), t.TempDir()
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "opencode"), "1.18.33")
	env := []string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin"), "ANTHROPIC_API_KEY=x",
		`OPENCODE_CONFIG_CONTENT={"plugin":["theirs"],"provider":{"anthropic":{"options":{"timeout":5}}}}`,
	}
	l, err := opencode.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
		Dir: home, StateDir: state, Env: env, BaseURL: "http://gw/t/s", HookURL: "http://gw/h/s", Model: "a/b",
		Session: "ses_dff924eaeffe00000000000001", Resume: true, Flags: thread.Flags{PermissionMode: "plan"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(l.Args, " "),
		"--session ses_dff924eaeffe00000000000001 --model a/b --agent plan"; got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
	want := `{"plugin":["theirs"],"provider":{"anthropic":{"options":{"baseURL":"http://gw/t/-/@anthropic/v1",` +
		`"headers":{"X-Orchestrator-Secret":"orchestrator-secret:s"},"timeout":5}}}}`
	if got := launch.Env(l.Env).Value("OPENCODE_CONFIG_CONTENT"); got != want {
		t.Errorf("configuration %s, want %s", got, want)
	}
}

func TestRules(t *testing.T) {
	agenttest.Rules(t, opencode.New(launch.Config{}).Rules(), []agenttest.Screen{
		{Name: "a list beside history", Want: thread.StateQuestion,
			Lines: "  answer to: te   Select model                                   esc\n  more words      Search\n   ctrl+p commands"},
		{Name: "approval", Lines: "┃ △ Permission required\n┃ # Shell command\n┃ $ touch a\n" +
			"┃ Allow once   Allow always   Reject", Want: thread.StateApproval},
		{Name: "working", Lines: "┃ Build\n■⬝⬝⬝ esc interrupt   tab agents   ctrl+p commands", Want: thread.StateWorking},
		{Name: "idle", Lines: "tab agents  ctrl+p commands", Want: thread.StateIdle},
		{Name: "idle beside a long folder", Lines: "/home/me/project/.orchestrator/worktrees/   8.1K (8%ctrl+p\n" +
			"other-way-1a2b                          commands", Want: thread.StateIdle},
		{Name: "nothing", Lines: "OpenCode"},
	})
}

// TestWindows: what the person configured of the agent's models is read where the agent reads it.
func TestWindows(t *testing.T) {
	for _, tc := range []struct{ env, config, want string }{
		{"", `{"provider":{"fm":{"models":{"x":{"limit":{"context":65536}},"y":{"id":"vendor/y",` +
			`"limit":{"context":9}},"z":{}}}}}`, `{"vendor/y":9,"x":65536}`},
		{`OPENCODE_CONFIG_CONTENT={"provider":{"fm":{"models":{"x":{"limit":{"context":7}}}}}}`,
			`{"provider":{"fm":{"models":{"x":{"limit":{"context":65536}}}}}}`, `{"x":7}`},
		{"", `{"provider":{}}`, `null`},
	} {
		home := t.TempDir()
		agenttest.Put(t, filepath.Join(home, ".config", "opencode", "opencode.json"), tc.config)
		got, err := json.Marshal(agenttest.World(t, opencode.New(launch.Config{}), []string{"HOME=" + home, tc.env}).Windows)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s %s: %s, %v, want %s", tc.env, tc.config, got, err, tc.want)
		}
	}
}
