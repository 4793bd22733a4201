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
// one text, it is its message.
func (a *Agent) Concludes(tool, args string) (string, bool) {
	if tool != "complete_task" {
		return "", false
	}
	var fields map[string]any
	if json.Unmarshal([]byte(args), &fields) == nil && len(fields) == 1 {
		for _, v := range fields {
			if text, ok := v.(string); ok {
				return text, true
			}
		}
	}
	return args, true
}
