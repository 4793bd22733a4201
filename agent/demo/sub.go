package demo

import (
	"encoding/json"

	"orchestrator/agent/demo/program"
	"orchestrator/thread"
)

var _ thread.Delegator = (*Agent)(nil)

// Delegates implements thread.Delegator.
func (a *Agent) Delegates(tool, args string) (thread.Delegation, bool) {
	var call program.Handed
	if tool != program.SubAgent || json.Unmarshal([]byte(args), &call) != nil {
		return thread.Delegation{}, false
	}
	return thread.Delegation{Type: call.Type, Prompt: call.Task}, call.Task != ""
}

// Concludes implements thread.Delegator: sub-agents end with an answer.
func (a *Agent) Concludes(string, string) (string, bool) { return "", false }
