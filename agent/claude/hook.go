package claude

import (
	"orchestrator/agent/hook"
	"orchestrator/thread"
)

// Hooks maps the events of Claude Code's hooks to states.
var Hooks = hook.Table{
	"SessionStart":     {State: thread.StateIdle, Session: true},
	"UserPromptSubmit": {State: thread.StateWorking, Session: true, Prompt: true},
	"PreToolUse": {State: thread.StateWorking, Tools: map[string]thread.State{
		"AskUserQuestion": thread.StateQuestion, "ExitPlanMode": thread.StateApproval,
	}},
	"PostToolUse":       {State: thread.StateWorking},
	"PreCompact":        {State: thread.StateWorking},
	"PermissionRequest": {State: thread.StateApproval},
	"Elicitation":       {State: thread.StateQuestion},
	"Notification": {Kinds: map[string]thread.State{
		"permission_prompt": thread.StateApproval, "elicitation_dialog": thread.StateQuestion,
		"idle_prompt": thread.StateIdle,
	}},
	"Stop": {State: thread.StateIdle},
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	return Hooks.Read(event, payload)
}
