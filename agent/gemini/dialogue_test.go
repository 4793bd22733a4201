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

// What it denies in the mode that asks is what it would have asked, unless a rule says otherwise.
func TestDenied(t *testing.T) {
	for _, c := range []struct {
		mode, tool, kind, message string
		reads                     bool
		want                      thread.RunEventKind
	}{
		{"default", "run_shell_command", "policy_violation", "Tool execution denied by policy.", false, thread.RunRefused},
		{"", "mcp_x_y", "policy_violation", "Tool execution denied by policy.", false, thread.RunRefused},
		{"default", "run_shell_command", "policy_violation", "Tool execution denied by policy. No calls are left: report.", false, thread.RunNotice},
		{"yolo", "run_shell_command", "policy_violation", "Tool execution denied by policy.", false, thread.RunNotice},
		{"plan", "write_file", "policy_violation", "Tool execution denied by policy.", false, thread.RunNotice},
		{"default", "write_file", "tool_not_registered", "not found", false, thread.RunRefused},
		{"plan", "write_file", "tool_not_registered", "not found", false, thread.RunNotice},
		{"plan", "write_file", "tool_not_registered", "not found", true, thread.RunRefused},
		{"yolo", "exit_plan_mode", "tool_not_registered", "not found", false, thread.RunNotice},
		{"default", "made_up", "tool_not_registered", "not found", false, ""},
		{"default", "web_fetch", "execution_failed", `requires user confirmation, which is not supported in non-interactive mode.`, false, thread.RunRefused},
	} {
		d := newDialogue("SESSION", c.mode, c.reads)
		d.Read([]byte(`{"type":"tool_use","tool_id":"c","tool_name":"` + c.tool + `","parameters":{"command":"touch x"}}`))
		all := d.Read([]byte(`{"type":"tool_result","tool_id":"c","status":"error","error":{"type":"` + c.kind + `","message":"` + c.message + `"}}`)).Events
		if c.want == "" && len(all) == 1 && all[0].Kind == thread.RunResult {
			continue
		}
		if len(all) != 2 || all[0].Kind != c.want || !strings.HasPrefix(all[0].Text, c.tool+" touch x: ") || all[1].Kind != thread.RunResult {
			t.Errorf("%+v: %+v", c, all)
		}
	}
}

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
