package claude_test

import (
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestForkMoves forks a session whose tools worked in files: the fork's name its own folder, so that
// Claude Code looks for changes there, and all else is as it was, to the byte.
func TestForkMoves(t *testing.T) {
	lines := []string{
		`{"type":"user","uuid":"1","cwd":"»","sessionId":"PARENT","message":{"role":"user",` +
			`"content":"look at /w/p/a.go"}}`,
		`{"type":"user","uuid":"2","sessionId":"PARENT","message":{"role":"user","content":[{"type":"text",` +
			`"text":"and /w/p/b.go"}]}}`,
		`{"type":"assistant","uuid":"3","sessionId":"PARENT","message":{"id":"m","content":[{"type":"thinking",` +
			`"thinking":"in /w/p/a.go","signature":"c2ln"},{"type":"tool_use","id":"t","name":"Write",` +
			`"input":{"file_path":"»/a.go","content":"1 < 2 & é\u2028"}}],"usage":{"input_tokens":1}}}`,
		`{"type":"user","uuid":"4","sessionId":"PARENT","message":{"role":"user","content":[{"tool_use_id":"t",` +
			`"type":"tool_result","content":"File created at: »/a.go\n»/b.go\n» is not /w/p2, /mnt/w/p or /w/p.old"}]},` +
			`"toolUseResult":{"type":"create","filePath":"»/a.go"}}`,
		`{"type":"assistant","uuid":"5","sessionId":"PARENT","message":{"content":[{"type":"text",` +
			`"text":"/w/p/a.go is there"}]}}`,
		`{"parentUuid":"1","attachment":{"type":"environment","snapshot":{"workingDirectory":"/w/p","isGitRepo":true}},` +
			`"type":"attachment","uuid":"6","rendered":[{"content":" - Primary working directory: /w/p\n"}],"cwd":"»"}`,
	}
	session := func(id, dir string) string {
		return strings.NewReplacer("PARENT", id, "»", dir).Replace(strings.Join(lines, "\n") + "\n")
	}
	agenttest.Moved(t, func(c launch.Config) thread.Rebuilder { return claude.New(c) },
		func(id string) string { return ".claude/projects/*/" + id + ".jsonl" }, session)
}
