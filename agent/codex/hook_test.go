package codex_test

import (
	"testing"

	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestReadHook(t *testing.T) {
	var reader thread.HookReader = codex.New(launch.Config{})
	for _, c := range []struct {
		event, payload string
		want           thread.HookReport
		ok             bool
	}{
		{"SessionStart", `{"session_id":"s"}`,
			thread.HookReport{State: thread.StateIdle, Detail: "hook SessionStart", Session: "s"}, true},
		{"UserPromptSubmit", `{"session_id":"s","prompt":"p"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook UserPromptSubmit", Session: "s", Prompt: "p"}, true},
		{"PreToolUse", `{"tool_name":"shell"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook PreToolUse: shell"}, true},
		{"PostToolUse", ``, thread.HookReport{State: thread.StateWorking, Detail: "hook PostToolUse"}, true},
		{"PreCompact", ``, thread.HookReport{State: thread.StateWorking, Detail: "hook PreCompact"}, true},
		{"PermissionRequest", `{"tool_name":"shell"}`,
			thread.HookReport{State: thread.StateApproval, Detail: "hook PermissionRequest: shell"}, true},
		{"Stop", ``, thread.HookReport{State: thread.StateIdle, Detail: "hook Stop"}, true},
		{"agent-turn-complete", ``, thread.HookReport{}, false},
	} {
		t.Run(c.event+c.payload, func(t *testing.T) {
			got, ok := reader.ReadHook(c.event, []byte(c.payload))
			if got != c.want || ok != c.ok {
				t.Errorf("ReadHook = %+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
