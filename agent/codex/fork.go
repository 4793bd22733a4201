package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"orchestrator/agent/transcript"
)

// fork rewrites a rollout for a new session in another folder. Ids are replaced wherever a value is one; folders are
// replaced outside the conversation, and in its tool calls and their results. The texts of the conversation stay as the
// model saw them.
func fork(data []byte, from, to string, fromDirs []string, dir string) []byte {
	var out bytes.Buffer
	transcript.Lines(data, func(line []byte) {
		var l struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
		}
		line = bytes.ReplaceAll(line, []byte(quote(from)), []byte(quote(to)))
		if json.Unmarshal(line, &l) != nil {
			return // Codex skips a damaged line too
		}
		switch {
		case dir == "":
		case l.Type != "response_item":
			for _, from := range fromDirs {
				if from != "" {
					line = bytes.ReplaceAll(line, []byte(quote(from)), []byte(quote(dir)))
				}
			}
		case isTool(l.Payload) && !strings.ContainsAny(dir, `"\`): // arguments are JSON in a text: escaped twice
			line = transcript.Relocate(line, fromDirs, dir, l.Payload)
		}
		out.Write(line)
		out.WriteByte('\n')
	})
	return out.Bytes()
}

// isTool reports whether an item of the conversation is a tool call or its result.
func isTool(item json.RawMessage) bool {
	var p struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(item, &p) != nil {
		return false
	}
	return strings.HasSuffix(p.Type, "_call") || strings.HasSuffix(p.Type, "_call_output")
}
