package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestForkMoves forks a session whose tools worked in files: the fork's name its own folder, so that
// Claude Code looks for changes there, and all else is as it was, to the byte.
func TestForkMoves(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	a := claude.New(launch.Config{Env: env})
	parent, child := launch.UUID(), launch.UUID()
	lines := []string{
		`{"type":"user","uuid":"1","cwd":"/w/p","sessionId":"PARENT","message":{"role":"user","content":"look at /w/p/a.go"}}`,
		`{"type":"user","uuid":"2","sessionId":"PARENT","message":{"role":"user","content":[{"type":"text","text":"and /w/p/b.go"}]}}`,
		`{"type":"assistant","uuid":"3","sessionId":"PARENT","message":{"id":"m","content":[{"type":"thinking","thinking":"in /w/p/a.go","signature":"c2ln"},{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"»/a.go","content":"1 < 2 & é\u2028"}}],"usage":{"input_tokens":1}}}`,
		`{"type":"user","uuid":"4","sessionId":"PARENT","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"File created at: »/a.go\n»/b.go\n» is not /w/p2, /mnt/w/p or /w/p.old"}]},"toolUseResult":{"type":"create","filePath":"»/a.go"}}`,
		`{"type":"assistant","uuid":"5","sessionId":"PARENT","message":{"content":[{"type":"text","text":"/w/p/a.go is there"}]}}`,
	}
	session := func(id, dir string) string {
		return strings.NewReplacer("PARENT", id, "»", dir).Replace(strings.Join(lines, "\n") + "\n")
	}
	dir := filepath.Join(home, "it's a fork")
	id, err := a.Rebuild(t.Context(), thread.RebuildSpec{
		Session: parent, NewSession: child, FromDir: "/w/p", Dir: dir, StateDir: t.TempDir(), Env: env,
		Files: []thread.TranscriptFile{{File: "main", Data: []byte(session(parent, "/w/p"))}},
	})
	if err != nil || id != child {
		t.Fatalf("rebuilt %q: %v", id, err)
	}
	found, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", child+".jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q: %v", found, err)
	}
	got, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := session(child, dir); string(got) != want {
		t.Errorf("the fork holds\n%s, want\n%s", got, want)
	}
}
