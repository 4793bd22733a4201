package command_test

import (
	"testing"

	"orchestrator/agent/command"
	"orchestrator/agent/hook"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestReadHook(t *testing.T) {
	var reader thread.HookReader = command.New(launch.Config{},
		hook.Table{"tell": {Kinds: map[string]thread.State{"rest": thread.StateIdle}}, "both": {State: thread.StateQuestion}},
		hook.Table{"tell": {Kinds: map[string]thread.State{"allow": thread.StateApproval}},
			"both": {State: thread.StateIdle}},
	)
	for _, c := range []struct {
		event, payload string
		want           thread.State
	}{
		{"tell", `{"notification_type":"rest"}`, thread.StateIdle},
		{"tell", `{"notification_type":"allow"}`, thread.StateApproval},
		{"tell", `{"notification_type":"other"}`, ""},
		{"both", ``, thread.StateQuestion},
		{"none", ``, ""},
	} {
		got, ok := reader.ReadHook(c.event, []byte(c.payload))
		if got.State != c.want || ok != (c.want != "") {
			t.Errorf("%s %s: %q, %v; want %q", c.event, c.payload, got.State, ok, c.want)
		}
	}
}
