package gemini

import (
	"encoding/json"

	"orchestrator/thread"
)

var _ thread.Delegator = (*Agent)(nil)

// Delegates implements thread.Delegator.
func (a *Agent) Delegates(tool, args string) (thread.Delegation, bool) {
	var call struct {
		Type   string `json:"agent_name"`
		Prompt string `json:"prompt"`
	}
	if tool != "invoke_agent" || json.Unmarshal([]byte(args), &call) != nil {
		return thread.Delegation{}, false
	}
	return thread.Delegation{Type: call.Type, Prompt: call.Prompt}, call.Prompt != ""
}

// Concludes implements thread.Delegator: a sub-agent ends with a call whose arguments are what it was asked for; if that is
// one text, it is its message. The CLI may refuse them, and the sub-agent goes on then.
func (a *Agent) Concludes(tool, args string) (string, bool) {
	if tool != "complete_task" {
		return "", false
	}
	raw := json.RawMessage(args)
	for range 3 { // {"result":{"response":"…"}}
		var fields map[string]json.RawMessage
		var text string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			return text, true
		case json.Unmarshal(raw, &fields) != nil || len(fields) != 1:
			return string(raw), true
		}
		for _, v := range fields {
			raw = v
		}
	}
	return string(raw), true
}
