package gemini_test

import (
	"testing"

	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestReadHook(t *testing.T) {
	var reader thread.HookReader = gemini.New(launch.Config{})
	for _, c := range []struct {
		event, payload string
		want           thread.HookReport
		ok             bool
	}{
		{"SessionStart", `{"session_id":"s"}`,
			thread.HookReport{State: thread.StateIdle, Detail: "hook SessionStart", Session: "s"}, true},
		{"BeforeAgent", `{"session_id":"s","prompt":"p"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook BeforeAgent", Prompt: "p"}, true},
		{"BeforeTool", `{"tool_name":"replace"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook BeforeTool: replace"}, true},
		{"AfterTool", ``, thread.HookReport{State: thread.StateWorking, Detail: "hook AfterTool"}, true},
		{"AfterAgent", ``, thread.HookReport{State: thread.StateIdle, Detail: "hook AfterAgent"}, true},
		{"Notification", `{"notification_type":"ToolPermission"}`,
			thread.HookReport{State: thread.StateApproval, Detail: "hook Notification: ToolPermission"}, true},
		{"Notification", `{"notification_type":"other"}`, thread.HookReport{Detail: "hook Notification: other"}, false},
		{"BeforeModel", ``, thread.HookReport{}, false},
	} {
		t.Run(c.event+c.payload, func(t *testing.T) {
			got, ok := reader.ReadHook(c.event, []byte(c.payload))
			if got != c.want || ok != c.ok {
				t.Errorf("ReadHook = %+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
