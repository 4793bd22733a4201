package opencode

import (
	"encoding/json"

	"orchestrator/agent/transcript"
)

// moved has a message name another folder: as the place where it was made, in its tool calls and what
// came of them, and in its patches, the files that opencode's undo sets back. What was said stays as
// it is.
func moved(line []byte, from, to string) []byte {
	var m struct {
		Info struct {
			Path json.RawMessage `json:"path"`
		} `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	}
	if json.Unmarshal(line, &m) != nil {
		return line
	}
	values := []json.RawMessage{m.Info.Path}
	for _, part := range m.Parts {
		var p struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(part, &p) == nil && (p.Type == "tool" || p.Type == "patch") {
			values = append(values, part)
		}
	}
	return transcript.Moved(line, from, to, values...)
}
