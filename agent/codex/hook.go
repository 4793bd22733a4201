package codex

import (
	"orchestrator/agent/hook"
	"orchestrator/thread"
)

// Hooks maps the events of Codex's hooks to states. A launch sets no hooks (see Launch), but the person's own may
// report.
var Hooks = hook.Table{
	"SessionStart":      {State: thread.StateIdle, Session: true},
	"UserPromptSubmit":  {State: thread.StateWorking, Session: true, Prompt: true},
	"PreToolUse":        {State: thread.StateWorking},
	"PostToolUse":       {State: thread.StateWorking},
	"PreCompact":        {State: thread.StateWorking},
	"PermissionRequest": {State: thread.StateApproval},
	"Stop":              {State: thread.StateIdle},
	"SubagentStart":     {Sub: hook.SubBegins},
	"SubagentStop":      {Sub: hook.SubEnded},
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	return Hooks.Read(event, payload)
}
