package gemini

import (
	"orchestrator/agent/hook"
	"orchestrator/thread"
)

// Hooks maps the events of Gemini CLI's hooks to states. A launch sets no hooks, but the person's own may report.
var Hooks = hook.Table{
	"SessionStart": {State: thread.StateIdle, Session: true},
	"BeforeAgent":  {State: thread.StateWorking, Prompt: true},
	"BeforeTool":   {State: thread.StateWorking},
	"AfterTool":    {State: thread.StateWorking},
	"AfterAgent":   {State: thread.StateIdle},
	"Notification": {Kinds: map[string]thread.State{"ToolPermission": thread.StateApproval}},
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	return Hooks.Read(event, payload)
}
