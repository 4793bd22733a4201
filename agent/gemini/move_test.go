package gemini_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestForkMoves forks a session whose tools worked in files: the fork's name its own folder, and all
// else is as it was, to the byte.
func TestForkMoves(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home}
	lines := []string{
		`{"sessionId":"SESSION","projectHash":"HASH","kind":"main"}`,
		`{"id":"1","type":"user","content":[{"text":"look at /w/p/a.go"}]}`,
		`{"id":"2","type":"user","content":"and /w/p/b.go"}`,
		`{"id":"3","type":"gemini","content":"in /w/p/a.go","thoughts":[{"description":"/w/p"}],"toolCalls":[{"id":"t","name":"write_file","args":{"file_path":"»/a.go","content":"1 < 2 & é"},"result":[{"functionResponse":{"id":"t","response":{"output":"wrote »/a.go\n»/b.go, not /w/p2"}}}],"resultDisplay":"»"}]}`,
		`{"id":"4","type":"user","content":[{"functionResponse":{"id":"t","response":{"output":"wrote »/a.go"}}},{"text":"/w/p"}]}`,
		`{"id":"5","type":"gemini","content":[{"text":"/w/p/c.go"},{"functionCall":{"id":"u","args":{"dir":"»"}},"thoughtSignature":"c2ln"}]}`,
		`{"$set":{"sessionId":"SESSION"}}`,
	}
	session := func(id, dir string) string {
		sum := sha256.Sum256([]byte(dir))
		return strings.NewReplacer("SESSION", id, "HASH", hex.EncodeToString(sum[:]), "»", dir).Replace(strings.Join(lines, "\n") + "\n")
	}
	parent, child := launch.UUID(), launch.UUID()
	dir := filepath.Join(home, "it's a fork")
	id, err := gemini.New(launch.Config{Env: env}).Rebuild(t.Context(), thread.RebuildSpec{
		Session: parent, NewSession: child, FromDir: "/w/p", Dir: dir, StateDir: t.TempDir(), Env: env,
		Files: []thread.TranscriptFile{{File: "main", Data: []byte(session(parent, "/w/p"))}},
	})
	if err != nil || id != child {
		t.Fatalf("rebuilt %q: %v", id, err)
	}
	found, err := filepath.Glob(filepath.Join(home, ".gemini", "tmp", "*", "chats", "*-"+child[:8]+".jsonl"))
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
