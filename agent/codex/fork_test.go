package codex_test

import (
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestForkMoves forks a session whose tools worked in files: the fork's name its own folder, and all
// else of the conversation is as it was, to the byte.
func TestForkMoves(t *testing.T) {
	lines := []string{
		`{"timestamp":"2026-11-21T10:28:50Z","type":"session_meta","payload":{"id":"SESSION","cwd":"»",` +
			`"timestamp":"2026-11-21T10:28:50Z"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"look at /w/p/a.go"}]}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"exec_command",` +
			`"arguments":"{\"cmd\":\"cat »/a.go\",\"workdir\":\"»\"}","call_id":"c"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c",` +
			`"output":"»/a.go\n»/b.go is not /w/p2"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch",` +
			`"input":"*** Begin Patch\n*** Add File: »/a.go\n+x\n*** End Patch"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text",` +
			`"text":"/w/p/a.go is there"}]}}`,
	}
	session := func(id, dir string) string {
		return strings.NewReplacer("SESSION", id, "»", dir).Replace(strings.Join(lines, "\n") + "\n")
	}
	agenttest.Moved(t, func(c launch.Config) thread.Rebuilder { return codex.New(c) },
		func(id string) string { return ".codex/sessions/*/*/*/rollout-*-" + id + ".jsonl" }, session)
}
