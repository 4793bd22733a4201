package gemini_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestForkMoves forks a session whose tools worked in files: the fork's name its own folder, and all
// else is as it was, to the byte.
func TestForkMoves(t *testing.T) {
	lines := []string{
		`{"sessionId":"SESSION","projectHash":"HASH","kind":"main"}`,
		`{"id":"1","type":"user","content":[{"text":"look at /w/p/a.go"}]}`,
		`{"id":"2","type":"user","content":"and /w/p/b.go"}`,
		`{"id":"3","type":"gemini","content":"in /w/p/a.go","thoughts":[{"description":"/w/p"}],"toolCalls":[{"id":"t",` +
			`"name":"write_file","args":{"file_path":"»/a.go","content":"1 < 2 & é"},"result":[{"functionResponse":{"id":"t",` +
			`"response":{"output":"wrote »/a.go\n»/b.go, not /w/p2"}}}],"resultDisplay":"»"}]}`,
		`{"id":"4","type":"user","content":[{"functionResponse":{"id":"t","response":{"output":"wrote »/a.go"}}},` +
			`{"text":"/w/p"}]}`,
		`{"id":"5","type":"gemini","content":[{"text":"/w/p/c.go"},{"functionCall":{"id":"u","args":{"dir":"»"}},` +
			`"thoughtSignature":"c2ln"}]}`,
		`{"$set":{"sessionId":"SESSION"}}`,
	}
	session := func(id, dir string) string {
		sum := sha256.Sum256([]byte(dir))
		return strings.NewReplacer("SESSION", id, "HASH", hex.EncodeToString(sum[:]), "»",
			dir).Replace(strings.Join(lines, "\n") + "\n")
	}
	agenttest.Moved(t, func(c launch.Config) thread.Rebuilder { return gemini.New(c) },
		func(id string) string { return ".gemini/tmp/*/chats/*-" + id[:8] + ".jsonl" }, session)
}
