package opencode

import (
	"orchestrator/agent/hook"
	"orchestrator/thread"
)

// Hooks maps the events that opencode sends to plugins to states. A launch sets no hooks, but the person's own plugin
// may report.
var Hooks = hook.Table{
	"permission.updated": {State: thread.StateApproval},
	"permission.asked":   {State: thread.StateApproval},
	"session.idle":       {State: thread.StateIdle},
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	return Hooks.Read(event, payload)
}
