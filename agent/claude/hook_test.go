package claude_test

import (
	"testing"

	"orchestrator/agent/claude"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestReadHook(t *testing.T) {
	var reader thread.HookReader = claude.New(launch.Config{})
	for _, c := range []struct {
		event, payload string
		want           thread.HookReport
		ok             bool
	}{
		{"SessionStart", `{"session_id":"s"}`,
			thread.HookReport{State: thread.StateIdle, Detail: "hook SessionStart", Session: "s"}, true},
		{"UserPromptSubmit", `{"session_id":"s","prompt":"p"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook UserPromptSubmit", Session: "s", Prompt: "p"}, true},
		{"PreToolUse", `{"tool_name":"Bash"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook PreToolUse: Bash"}, true},
		{"PreToolUse", `{"tool_name":"AskUserQuestion"}`,
			thread.HookReport{State: thread.StateQuestion, Detail: "hook PreToolUse: AskUserQuestion"}, true},
		{"PreToolUse", `{"tool_name":"ExitPlanMode"}`,
			thread.HookReport{State: thread.StateApproval, Detail: "hook PreToolUse: ExitPlanMode"}, true},
		{"PostToolUse", ``, thread.HookReport{State: thread.StateWorking, Detail: "hook PostToolUse"}, true},
		{"PreCompact", ``, thread.HookReport{State: thread.StateWorking, Detail: "hook PreCompact"}, true},
		{"PermissionRequest", `{"tool_name":"Bash"}`,
			thread.HookReport{State: thread.StateApproval, Detail: "hook PermissionRequest: Bash"}, true},
		{"Elicitation", ``, thread.HookReport{State: thread.StateQuestion, Detail: "hook Elicitation"}, true},
		{"Notification", `{"notification_type":"permission_prompt"}`,
			thread.HookReport{State: thread.StateApproval, Detail: "hook Notification: permission_prompt"}, true},
		{"Notification", `{"notification_type":"elicitation_dialog"}`,
			thread.HookReport{State: thread.StateQuestion, Detail: "hook Notification: elicitation_dialog"}, true},
		{"Notification", `{"notification_type":"idle_prompt"}`,
			thread.HookReport{State: thread.StateIdle, Detail: "hook Notification: idle_prompt"}, true},
		{"Notification", `{"notification_type":"auth_success"}`,
			thread.HookReport{Detail: "hook Notification: auth_success"}, false},
		{"Stop", `{"session_id":"s"}`, thread.HookReport{State: thread.StateIdle, Detail: "hook Stop"}, true},
		{"StopFailure", ``, thread.HookReport{}, false},
		{"SessionEnd", ``, thread.HookReport{}, false},
	} {
		t.Run(c.event+c.payload, func(t *testing.T) {
			got, ok := reader.ReadHook(c.event, []byte(c.payload))
			if got != c.want || ok != c.ok {
				t.Errorf("ReadHook = %+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
