package claude

import (
	"orchestrator/agent/hook"
	"orchestrator/agent/launch"
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
	"Stop":          {State: thread.StateIdle},
	"SubagentStart": {Sub: hook.SubBegins},
	"SubagentStop":  {Sub: hook.SubEnded},
}

// ReadHook implements thread.HookReader.
func (a *Agent) ReadHook(event string, payload []byte) (thread.HookReport, bool) {
	return Hooks.Read(event, payload)
}

// hookEvents are the events that indicate the thread's state, or tell of its sub-agents. Tool events are left out, except for the tools that ask
// the person something: each hook costs a process.
var hookEvents = []struct{ event, matcher string }{
	{"SessionStart", ""},
	{"UserPromptSubmit", ""},
	{"PreToolUse", "AskUserQuestion|ExitPlanMode"},
	{"PermissionRequest", ""},
	{"Notification", ""},
	{"Elicitation", ""},
	{"PreCompact", ""},
	{"Stop", ""},
	{"StopFailure", ""},
	{"SubagentStart", ""},
	{"SubagentStop", ""},
	{"SessionEnd", ""},
}

// hookTimeout is the time in seconds that Claude Code waits for a hook.
const hookTimeout = 5

// hooks returns the hooks table of our settings file.
func (a *Agent) hooks() map[string]any {
	table := map[string]any{}
	for _, h := range hookEvents {
		timeout := hookTimeout
		if h.event == asking {
			timeout = askingTimeout
		}
		entry := map[string]any{"hooks": []any{map[string]any{
			"type": "command", "timeout": timeout,
			"command": launch.Quote(append(append([]string{}, a.hook...), h.event)...),
		}}}
		if h.matcher != "" {
			entry["matcher"] = h.matcher
		}
		table[h.event] = []any{entry}
	}
	return table
}
