package hook_test

import (
	"strings"
	"testing"

	"orchestrator/agent/hook"
	"orchestrator/thread"
)

// TestSub: what begins or has ended without an id is nobody.
func TestSub(t *testing.T) {
	table := hook.Table{"begins": {Sub: hook.SubBegins}, "ended": {Sub: hook.SubEnded}}
	for payload, want := range map[string][2]*thread.SubReport{
		`{"agent_id":"a","agent_type":"Plan","last_assistant_message":"done"}`: {
			{Key: "a", Type: "Plan"}, {Key: "a", Type: "Plan", Ended: true, Said: "done"},
		},
		`{"agent_type":"Plan"}`: {}, `{"agent_id":`: {}, ``: {},
	} {
		for i, event := range []string{"begins", "ended"} {
			got, ok := table.Read(event, []byte(payload))
			if ok != (want[i] != nil) || ok && *got.Sub != *want[i] {
				t.Errorf("%s of %s: %+v, %v", event, payload, got.Sub, ok)
			}
		}
	}
}

func TestRead(t *testing.T) {
	table := hook.Table{
		"begin": {State: thread.StateIdle, Session: true},
		"send":  {State: thread.StateWorking, Prompt: true},
		"call":  {State: thread.StateWorking, Tools: map[string]thread.State{"ask": thread.StateQuestion}},
		"tell":  {Kinds: map[string]thread.State{"allow": thread.StateApproval}},
		"quiet": {Session: true},
	}
	for _, c := range []struct {
		name, event, payload string
		want                 thread.HookReport
		ok                   bool
	}{
		{"unknown event", "other", `{"session_id":"s"}`, thread.HookReport{}, false},
		{"no payload", "begin", ``, thread.HookReport{State: thread.StateIdle, Detail: "hook begin"}, true},
		{"payload that is no JSON", "send", `{"prompt":`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook send"}, true},
		{"session", "begin", `{"session_id":"s","prompt":"p"}`,
			thread.HookReport{State: thread.StateIdle, Detail: "hook begin", Session: "s"}, true},
		{"session alone", "quiet", `{"session_id":"s"}`, thread.HookReport{Detail: "hook quiet", Session: "s"}, true},
		{"nothing said", "quiet", `{}`, thread.HookReport{Detail: "hook quiet"}, false},
		{"prompt", "send", `{"session_id":"s","prompt":"p"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook send", Prompt: "p"}, true},
		{"tool", "call", `{"tool_name":"run"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook call: run"}, true},
		{"tool that asks", "call", `{"tool_name":"ask"}`,
			thread.HookReport{State: thread.StateQuestion, Detail: "hook call: ask"}, true},
		{"notification", "tell", `{"notification_type":"allow","tool_name":"x"}`,
			thread.HookReport{State: thread.StateApproval, Detail: "hook tell: allow"}, true},
		{"another notification", "tell", `{"notification_type":"hello"}`,
			thread.HookReport{Detail: "hook tell: hello"}, false},
		{"name that hides something", "call", `{"tool_name":"\u001b[31m r\u200bun"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook call: [31mrun"}, true},
		{"long name", "call", `{"tool_name":"` + strings.Repeat("x", 99) + `"}`,
			thread.HookReport{State: thread.StateWorking, Detail: "hook call: " + strings.Repeat("x", 60)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := table.Read(c.event, []byte(c.payload))
			if got != c.want || ok != c.ok {
				t.Errorf("Read = %+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
