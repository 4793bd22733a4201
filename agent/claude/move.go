package claude

import (
	"bytes"
	"encoding/json"
	"slices"

	"orchestrator/agent/transcript"
)

// relocate replaces folders with another in the tool calls of a line, their results and its working folder. Claude Code
// watches the files that its conversation has read and written, and reports others' changes to the model: without this, a
// fork would be told about everything its parent keeps doing, and would work on the parent's files. What Claude Code has
// told the model of its environment stays: it compares that with what holds, and tells the model what has changed.
func relocate(line []byte, from []string, to string) []byte {
	var l struct {
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Result json.RawMessage `json:"toolUseResult"`
		Dir    json.RawMessage `json:"cwd"`
	}
	if json.Unmarshal(line, &l) != nil {
		return line
	}
	var parts, tools []json.RawMessage
	if json.Unmarshal(l.Message.Content, &parts) != nil {
		parts = nil // a plain text
	}
	for _, part := range parts {
		var p struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(part, &p) == nil && (p.Type == "tool_use" || p.Type == "tool_result") {
			tools = append(tools, part)
		}
	}
	line = transcript.Relocate(line, from, to, append(tools, l.Result)...)
	if len(l.Dir) > 0 { // by its key: the snapshot of the environment names the same folder before
		key := []byte(`"cwd":`)
		moved := transcript.Relocate(l.Dir, from, to, l.Dir)
		line = bytes.Replace(line, slices.Concat(key, l.Dir), slices.Concat(key, moved), 1)
	}
	return line
}
