package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"orchestrator/agent/transcript"
)

// fork rewrites a rollout for a new session in another folder. Ids are changed wherever a value is
// one; folders outside the conversation itself, and in its tool calls and what came of them. What was
// said stays as the model saw it.
func fork(data []byte, from, to, fromDir, dir string) []byte {
	var out bytes.Buffer
	transcript.Lines(data, func(line []byte) {
		var l struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
		}
		line = bytes.ReplaceAll(line, []byte(quote(from)), []byte(quote(to)))
		if json.Unmarshal(line, &l) != nil {
			return // a damaged line is skipped by Codex as well
		}
		switch {
		case fromDir == "" || dir == "" || fromDir == dir:
		case l.Type != "response_item":
			line = bytes.ReplaceAll(line, []byte(quote(fromDir)), []byte(quote(dir)))
		case ofTool(l.Payload) && !strings.ContainsAny(dir, `"\`): // arguments are JSON in a text: escaped twice
			line = transcript.Moved(line, fromDir, dir, l.Payload)
		}
		out.Write(line)
		out.WriteByte('\n')
	})
	return out.Bytes()
}

// ofTool reports whether an item of the conversation is a tool's call, or what came of it.
func ofTool(item json.RawMessage) bool {
	var p struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(item, &p) != nil {
		return false
	}
	return strings.HasSuffix(p.Type, "_call") || strings.HasSuffix(p.Type, "_call_output")
}
