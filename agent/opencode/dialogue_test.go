package opencode

import (
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/jsonline"
	"orchestrator/thread"
)

func start() thread.Dialogue { return &dialogue{asked: "ses_ASKED", model: "MODEL"} }

func TestDialogue(t *testing.T) { agenttest.Dialogues(t, start) }

func FuzzDialogue(f *testing.F) { agenttest.FuzzDialogue(f, start) }

// No line is the end, and no exit code alone.
func TestEnds(t *testing.T) {
	const (
		begin    = `{"type":"step_start","sessionID":"s"}`
		stop     = `{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}`
		calls    = `{"type":"step_finish","sessionID":"s","part":{"reason":"tool-calls"}}`
		long     = `{"type":"step_finish","sessionID":"s","part":{"reason":"length"}}`
		rejected = `{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"error",` +
			`"input":{"command":"rm x"},"error":"The user rejected permission to use this specific tool call."}}}`
		limited = `{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"slow down","statusCode":429}}}`
		aborted = `{"type":"error","sessionID":"s","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`
	)
	for _, c := range []struct {
		name, lines string
		interrupted bool
		code        int
		want        thread.RunEvent
	}{
		{"answered", begin + "\n" + stop, false, 0, thread.RunEvent{Outcome: thread.RunCompleted}},
		{"killed after a step", begin + "\n" + stop, false, 137, thread.RunEvent{Outcome: thread.RunFailed,
			Reason: "opencode ended with code 137 before it had answered"}},
		{"interrupted after a step", begin + "\n" + stop, true, 143, thread.RunEvent{Outcome: thread.RunCancelled, Reason: "interrupted"}},
		{"filtered", begin + "\n" + strings.Replace(stop, "stop", "content-filter", 1), false, 0, thread.RunEvent{Outcome: thread.RunFailed,
			Reason: "the model stopped, and the reason was: content-filter"}},
		{"killed between steps", begin + "\n" + calls, false, 0, thread.RunEvent{Outcome: thread.RunFailed,
			Reason: "opencode ended with code 0 before it had answered"}},
		{"killed in a later step", begin + "\n" + stop + "\n" + begin, false, 137, thread.RunEvent{Outcome: thread.RunFailed,
			Reason: "opencode ended with code 137 before it had answered"}},
		{"interrupted", begin, true, 143, thread.RunEvent{Outcome: thread.RunCancelled, Reason: "interrupted"}},
		{"interrupted, and says so", begin + "\n" + aborted, true, 0, thread.RunEvent{Outcome: thread.RunCancelled, Reason: "interrupted"}},
		{"refused", begin + "\n" + rejected + "\n" + calls, false, 0, thread.RunEvent{Outcome: thread.RunFailed,
			Reason: "it would have asked you, and nobody can be asked: bash rm x"}},
		{"refused, and went on", begin + "\n" + rejected + "\n" + calls + "\n" + begin + "\n" + stop, false, 0,
			thread.RunEvent{Outcome: thread.RunCompleted}},
		{"limited", limited, false, 1, thread.RunEvent{Outcome: thread.RunFailed, Reason: "slow down", State: thread.StateLimited, Status: 429}},
		{"broken off", strings.NewReplacer("slow down", "Connection reset by server", `,"statusCode":429`, "").Replace(limited), false, 1,
			thread.RunEvent{Outcome: thread.RunFailed, Reason: "Connection reset by server", State: thread.StateCut}},
		{"nobody listens", strings.NewReplacer("slow down", "Cannot connect to API: x", `,"statusCode":429`, "").Replace(limited), false, 1,
			thread.RunEvent{Outcome: thread.RunFailed, Reason: "Cannot connect to API: x", State: thread.StateUnreachable}},
		{"cut off", begin + "\n" + long, false, 0, thread.RunEvent{Outcome: thread.RunFailed, State: thread.StateCut,
			Reason: "the answer was cut off: it is as long as it may be"}},
		{"unknown session", "", false, 1, thread.RunEvent{Outcome: thread.RunFailed,
			Reason: "it did not begin: there may be no session ses_ASKED"}},
		{"nothing", "", false, 0, thread.RunEvent{Outcome: thread.RunFailed, Reason: "opencode ended with code 0 before it had answered"}},
	} {
		d := start()
		if c.interrupted {
			d.Interrupt()
		}
		for line := range strings.SplitSeq(c.lines, "\n") {
			for _, e := range d.Read([]byte(line)).Events {
				if e.Kind == thread.RunEnd {
					t.Errorf("%s: %s is the end", c.name, line)
				}
			}
		}
		all := d.End(c.code).Events
		if c.want.Kind = thread.RunEnd; len(all) != 1 || all[0] != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, all, c.want)
		}
	}
}

// A long answer comes in one line, and is said whole.
func TestLongText(t *testing.T) {
	text := strings.Repeat("ä€", jsonline.MaxText/4)
	got := ""
	for _, e := range start().Read([]byte(`{"type":"text","sessionID":"s","part":{"text":"` + text + `"}}`)).Events {
		if e.Kind == thread.RunText {
			got += e.Text
		}
	}
	if got != text {
		t.Errorf("%d of %d bytes", len(got), len(text))
	}
}
