package gemini

import (
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/thread"
)

func start() thread.Dialogue { return newDialogue("SESSION", "yolo", false) }

func TestDialogue(t *testing.T) { agenttest.Dialogues(t, start) }

func FuzzDialogue(f *testing.F) { agenttest.FuzzDialogue(f, start) }

// Its exit code says what its lines do not.
func TestExitCodes(t *testing.T) {
	const failed = `{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: no]\nadvice"},"stats":{}}`
	for _, c := range []struct {
		line        string
		interrupted bool
		code        int
		want        thread.RunEvent
	}{
		{"", false, 0, thread.RunEvent{Outcome: thread.RunFailed, Reason: "Gemini CLI ended with code 0 before it had answered"}},
		{"", true, 0, thread.RunEvent{Outcome: thread.RunCancelled, Reason: "interrupted"}},
		{failed, true, 130, thread.RunEvent{Outcome: thread.RunCancelled, Reason: "interrupted"}},
		{"", false, 41, thread.RunEvent{Outcome: thread.RunFailed, Reason: "it could not log in", State: thread.StateUnauthorised}},
		{"", false, 42, thread.RunEvent{Outcome: thread.RunFailed, Reason: "it does not accept its input, or there is no session SESSION here"}},
		{"", false, 53, thread.RunEvent{Outcome: thread.RunFailed, Reason: "it has reached the limit of turns in its settings"}},
		{"", false, 55, thread.RunEvent{Outcome: thread.RunFailed, Reason: "it does not trust the folder"}},
		{failed, false, 53, thread.RunEvent{Outcome: thread.RunFailed, Reason: "no"}},
		{failed, false, 145, thread.RunEvent{Outcome: thread.RunFailed, Reason: "no", State: thread.StateUnauthorised, Status: 401}},
		{failed, false, 173, thread.RunEvent{Outcome: thread.RunFailed, Reason: "no", State: thread.StateLimited, Status: 429}},
		{failed, false, 247, thread.RunEvent{Outcome: thread.RunFailed, Reason: "no", State: thread.StateUnavailable, Status: 503}},
		{failed, false, 17, thread.RunEvent{Outcome: thread.RunFailed, Reason: "no", State: thread.StateLimited, Status: 529}},
		{strings.Replace(failed, "no]", "terminated]", 1), false, 1, thread.RunEvent{Outcome: thread.RunFailed, Reason: "terminated", State: thread.StateCut}},
		{strings.Replace(failed, "no]", "exception TypeError: fetch failed sending request]", 1), false, 1, thread.RunEvent{
			Outcome: thread.RunFailed, Reason: "exception TypeError: fetch failed sending request", State: thread.StateUnreachable,
		}},
		{failed, false, 1, thread.RunEvent{Outcome: thread.RunFailed, Reason: "no"}},
		{`{"type":"result","status":"success","stats":{}}`, false, 1, thread.RunEvent{Outcome: thread.RunCompleted}},
	} {
		d := start()
		if c.interrupted {
			d.Interrupt()
		}
		all := append(d.Read([]byte(c.line)).Events, d.End(c.code).Events...)
		if c.want.Kind = thread.RunEnd; len(all) != 1 || all[0] != c.want {
			t.Errorf("%q, %d: %+v, want %+v", c.line, c.code, all, c.want)
		}
	}
}
