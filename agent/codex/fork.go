package codex

import (
	"bytes"
	"encoding/json"
	"strings"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// fork rewrites a rollout for a new session in another folder. Ids are replaced wherever a value is one; folders are
// replaced outside the conversation, and in its tool calls and their results. The texts of the conversation stay as the
// model saw them.
func fork(spec thread.RebuildSpec, session string, f thread.TranscriptFile) []byte {
	if f.File != transcript.Main {
		return f.Data
	}
	return transcript.Edited(f.Data, func(line []byte) []byte {
		var l struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
		}
		line = bytes.ReplaceAll(line, []byte(quote(spec.Session)), []byte(quote(session)))
		if json.Unmarshal(line, &l) != nil {
			return nil // Codex skips a damaged line too
		}
		switch {
		case spec.Dir == "":
		case l.Type != "response_item":
			for _, from := range spec.FromDirs {
				if from != "" {
					line = bytes.ReplaceAll(line, []byte(quote(from)), []byte(quote(spec.Dir)))
				}
			}
		case isTool(l.Payload) && !strings.ContainsAny(spec.Dir, `"\`): // arguments are JSON in a text: escaped twice
			line = transcript.Relocate(line, spec.FromDirs, spec.Dir, l.Payload)
		}
		return line
	})
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
