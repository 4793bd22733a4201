package opencode

import (
	"orchestrator/agent/hook"
	"orchestrator/thread"
)

// Hooks says what the events mean that opencode tells its plugins. A launch sets none up: a person's own plugin may
// report.
var Hooks = hook.Table{
	"permission.updated": {State: thread.StateApproval},
	"permission.asked":   {State: thread.StateApproval},
	"session.idle":       {State: thread.StateIdle},
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	return Hooks.Read(event, payload)
}
