package claude

import (
	"encoding/json"

	"orchestrator/agent/transcript"
)

// moved has the tool calls of a line, and what came of them, name another folder. Claude Code watches
// the files that its conversation read and wrote, and tells the model what others write there: a fork
// would hear of all that its parent goes on to do, and work on the parent's files.
func moved(line []byte, from, to string) []byte {
	var l struct {
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Result json.RawMessage `json:"toolUseResult"`
	}
	if json.Unmarshal(line, &l) != nil {
		return line
	}
	var parts, tools []json.RawMessage
	if json.Unmarshal(l.Message.Content, &parts) != nil {
		parts = nil // a text
	}
	for _, part := range parts {
		var p struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(part, &p) == nil && (p.Type == "tool_use" || p.Type == "tool_result") {
			tools = append(tools, part)
		}
	}
	return transcript.Moved(line, from, to, append(tools, l.Result)...)
}
