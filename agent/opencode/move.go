package opencode

import (
	"encoding/json"

	"orchestrator/agent/transcript"
)

// relocate replaces folders with another in a message: in its working folder, in its tool calls and their results, and
// in its patches, which are the files that opencode's undo restores. Texts are unchanged.
func relocate(line []byte, from []string, to string) []byte {
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
	return transcript.Relocate(line, from, to, values...)
}
