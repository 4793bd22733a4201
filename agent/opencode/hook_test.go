package opencode_test

import (
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

func TestReadHook(t *testing.T) {
	var reader thread.HookReader = opencode.New(launch.Config{})
	for _, c := range []struct {
		event, payload string
		want           thread.HookReport
		ok             bool
	}{
		{"permission.updated", ``, thread.HookReport{State: thread.StateApproval, Detail: "hook permission.updated"}, true},
		{"permission.asked", ``, thread.HookReport{State: thread.StateApproval, Detail: "hook permission.asked"}, true},
		{"session.idle", `{}`, thread.HookReport{State: thread.StateIdle, Detail: "hook session.idle"}, true},
		{"session.created", ``, thread.HookReport{}, false},
	} {
		t.Run(c.event+c.payload, func(t *testing.T) {
			got, ok := reader.ReadHook(c.event, []byte(c.payload))
			if got != c.want || ok != c.ok {
				t.Errorf("ReadHook = %+v, %v; want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}
