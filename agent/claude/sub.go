package claude

import (
	"encoding/json"

	"orchestrator/thread"
)

var _ thread.Delegator = (*Agent)(nil)

// Delegates implements thread.Delegator: older versions call the tool Task.
func (a *Agent) Delegates(tool, args string) (thread.Delegation, bool) {
	var call struct {
		Type   string `json:"subagent_type"`
		Prompt string `json:"prompt"`
	}
	if tool != "Agent" && tool != "Task" || json.Unmarshal([]byte(args), &call) != nil {
		return thread.Delegation{}, false
	}
	return thread.Delegation{Type: call.Type, Prompt: call.Prompt}, call.Prompt != ""
}

// Concludes implements thread.Delegator: sub-agents end with an answer.
func (a *Agent) Concludes(string, string) (string, bool) { return "", false }
