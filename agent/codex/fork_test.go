package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestForkMoves forks a session whose tools worked in files: the fork's name its own folder, and all
// else of the conversation is as it was, to the byte.
func TestForkMoves(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	lines := []string{
		`{"timestamp":"2026-11-21T10:28:50Z","type":"session_meta","payload":{"id":"SESSION","cwd":"»","timestamp":"2026-11-21T10:28:50Z"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"look at /w/p/a.go"}]}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"cat »/a.go\",\"workdir\":\"»\"}","call_id":"c"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"»/a.go\n»/b.go is not /w/p2"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: »/a.go\n+x\n*** End Patch"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"/w/p/a.go is there"}]}}`,
	}
	session := func(id, dir string) string {
		return strings.NewReplacer("SESSION", id, "»", dir).Replace(strings.Join(lines, "\n") + "\n")
	}
	parent, child := launch.UUID(), launch.UUID()
	dir := filepath.Join(home, "it's a fork")
	id, err := codex.New(launch.Config{Env: env}).Rebuild(t.Context(), thread.RebuildSpec{
		Session: parent, NewSession: child, FromDir: "/w/p", Dir: dir, StateDir: t.TempDir(), Env: env,
		Files: []thread.TranscriptFile{{File: "main", Data: []byte(session(parent, "/w/p"))}},
	})
	if err != nil || id != child {
		t.Fatalf("rebuilt %q: %v", id, err)
	}
	found, err := filepath.Glob(filepath.Join(home, ".codex", "sessions", "*", "*", "*", "rollout-*-"+child+".jsonl"))
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
