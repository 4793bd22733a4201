package codex

import (
	"encoding/json"
	"strings"

	"orchestrator/thread"
)

var _ thread.Delegator = (*Agent)(nil)

// Delegates implements thread.Delegator. Newer versions name a sub-agent by its task, older ones tell its type.
func (a *Agent) Delegates(tool, args string) (thread.Delegation, bool) {
	var call struct {
		Name    string `json:"task_name"`
		Type    string `json:"agent_type"`
		Message string `json:"message"`
	}
	tool = tool[strings.LastIndexAny(tool, "./")+1:]
	if !strings.HasSuffix(tool, "spawn_agent") || json.Unmarshal([]byte(args), &call) != nil {
		return thread.Delegation{}, false
	}
	if encrypted(call.Message) {
		call.Message = "[its provider encrypts what a sub-agent is asked]"
	}
	return thread.Delegation{Type: call.Type, Name: call.Name, Prompt: call.Message}, call.Name != "" || call.Message != ""
}

// encrypted reports whether a message cannot be read: its schema has the provider encrypt it.
func encrypted(message string) bool {
	return len(message) > 100 && !strings.ContainsAny(message, " \n\t")
}

// Concludes implements thread.Delegator: sub-agents end with an answer.
func (a *Agent) Concludes(string, string) (string, bool) { return "", false }
