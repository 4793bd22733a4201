package work

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"orchestrator/thread"
)

// troubles are all states, with what a failure in each is: whose, its code, and whether the same again may help.
func troubles() map[thread.State]string {
	const agent = "agent ORG-003 false"
	return map[thread.State]string{
		thread.StateUnauthorised: "transport ORG-007 false", thread.StateLimited: "transport ORG-007 true",
		thread.StateUnavailable: "transport ORG-007 true", thread.StateUnreachable: "transport ORG-007 true",
		thread.StateCut: "transport ORG-007 true", thread.StateFailed: agent,
		thread.StateApproval: agent, thread.StateQuestion: agent, thread.StateDone: agent, thread.StateSilent: agent,
		thread.StateInterrupted: agent, thread.StateStarting: agent, thread.StateWorking: agent, thread.StateIdle: agent,
		thread.StateUnknown: agent, thread.StateExited: agent, "": agent,
	}
}

func kindOf(f Failure) string { return fmt.Sprintf("%s %s %v", f.Class, f.Code, f.Passes()) }

// TestClassifyStates: each state leads to the same, whether the gateway has seen it or the program tells it, and what the
// gateway has seen goes before what the program tells.
func TestClassifyStates(t *testing.T) {
	now := time.Unix(1e9, 0)
	for state, want := range troubles() {
		for who, e := range map[string]Ending{
			"the gateway":         {Reason: "words", Provider: Provider{State: state}},
			"the program":         {Reason: "words", State: state},
			"both, and the first": {Reason: "words", Provider: Provider{State: state}, State: thread.StateUnauthorised},
		} {
			want := want
			if who == "both, and the first" && !state.Trouble() {
				want = troubles()[thread.StateUnauthorised]
			}
			f := Classify(e, now)
			if kindOf(f) != want || f.What == "" || f.Do == "" || !f.At.Equal(now) {
				t.Errorf("%q by %s: %s, want %s: %+v", state, who, kindOf(f), want, f)
			}
		}
	}
}

// TestClassifyStatuses: what each status of a provider is, told by whoever.
func TestClassifyStatuses(t *testing.T) {
	const passes, asks, agent = "transport ORG-007 true", "transport ORG-007 false", "agent ORG-003 false"
	for status, want := range map[int]string{
		302: agent, 400: agent, 401: asks, 402: asks, 403: asks, 404: agent, 408: passes, 409: agent, 413: "agent ORG-004 false",
		422: agent, 429: passes, 500: passes, 501: passes, 502: passes, 503: passes, 504: passes, 529: passes, 599: passes,
		200: agent, 0: agent,
	} {
		for who, e := range map[string]Ending{
			"the gateway": {Provider: Provider{State: thread.TroubleOf(status), Status: status}},
			"the program": {Status: status},
		} {
			f := Classify(e, time.Unix(1e9, 0))
			if kindOf(f) != want {
				t.Errorf("%d by %s: %s, want %s", status, who, kindOf(f), want)
			}
			if f.Redoes() != (want == agent || status == 413) {
				t.Errorf("%d by %s: done again %v", status, who, f.Redoes())
			}
		}
	}
}

// TestClassifyCauses: what was decided here counts, whatever the gateway has seen.
func TestClassifyCauses(t *testing.T) {
	seen := Provider{State: thread.StateLimited, Status: 429}
	for name, c := range map[string]struct {
		e    Ending
		want string
	}{
		"deadline": {Ending{Cause: CauseDeadline}, "agent ORG-008 false"}, "output": {Ending{Cause: CauseOutput}, "agent ORG-008 false"},
		"calls": {Ending{Cause: CauseCalls}, "agent ORG-008 false"}, "budget": {Ending{Cause: CauseBudget}, "agent ORG-004 false"},
		"changed": {Ending{Cause: CauseChanged}, "agent ORG-005 false"}, "asked": {Ending{Cause: CauseAsked}, "agent ORG-002 false"},
		"prompt": {Ending{Cause: CausePrompt}, "ours ORG-001 false"}, "died": {Ending{Cause: CauseDied}, "ours ORG-007 false"},
		"no program": {Ending{Cause: CauseStart, Err: thread.ErrNotFound}, "ours ORG-001 false"},
		"no store":   {Ending{Cause: CauseStart, Err: fmt.Errorf("x: %w", thread.ErrUnreachable)}, "ours ORG-007 false"},
		"no disk":    {Ending{Cause: CauseStart, Err: thread.ErrDiskFull}, "ours ORG-007 false"},
		"too many":   {Ending{Cause: CauseStart, Err: thread.ErrLimit}, "ours ORG-008 false"},
		"other":      {Ending{Cause: CauseStart, Err: errors.New("x")}, "ours ORG-001 false"},
		"memory":     {Ending{Exit: thread.Exit{Limit: true, Reason: "too much", Code: 137}}, "agent ORG-008 false"},
	} {
		c.e.Provider = seen
		if f := Classify(c.e, time.Unix(1e9, 0)); kindOf(f) != c.want || f.What == "" || f.Do == "" || f.Redoes() {
			t.Errorf("%s: %s, want %s: %+v", name, kindOf(f), c.want, f)
		}
	}
	for _, c := range []struct {
		name string
		e    Ending
		want string
	}{
		{"refused calls", Ending{Refused: 2}, "agent ORG-002 false"},
		{"an exit code", Ending{Exit: thread.Exit{Code: 1}}, "agent ORG-003 false"},
		{"gave up waiting", Ending{Provider: Provider{State: thread.StateUnknown, Fault: thread.FaultAgent}}, "transport ORG-007 true"},
		{"left in the middle of an answer", Ending{Provider: Provider{State: thread.StateUnknown, Fault: thread.FaultAgent, Status: 200}}, "agent ORG-003 false"},
		{"a page in place of an answer", Ending{Provider: Provider{State: thread.StateUnavailable, Fault: thread.FaultNoAnswer, Status: 200}}, "transport ORG-007 true"},
		{"a limit in place of an answer", Ending{Provider: Provider{State: thread.StateLimited, Fault: thread.FaultLimited, Status: 200}}, "transport ORG-007 true"},
		{"an error in place of an answer", Ending{Provider: Provider{State: thread.StateFailed, Fault: thread.FaultError, Status: 200}}, "agent ORG-003 false"},
		{"no connection", Ending{Provider: Provider{State: thread.StateUnreachable, Fault: thread.FaultUnreachable}}, "transport ORG-007 true"},
		{"cut off", Ending{Provider: Provider{State: thread.StateCut, Fault: thread.FaultCut, Status: 200}}, "transport ORG-007 true"},
		{"refused in place of an answer", Ending{Provider: Provider{State: thread.StateUnauthorised, Fault: thread.FaultUnauthorised, Status: 200}}, "transport ORG-007 false"},
	} {
		if f := Classify(c.e, time.Unix(1e9, 0)); kindOf(f) != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.name, kindOf(f), c.want, f)
		}
	}
}

// TestClassifyOurs: what the gateway has refused is never the provider's, whatever the program reports, and nothing is tried
// again by itself.
func TestClassifyOurs(t *testing.T) {
	for status, want := range map[int]string{
		402: "agent ORG-004 false", 429: "ours ORG-008 false", 503: "ours ORG-008 false", 400: "agent ORG-004 false",
	} {
		f := Classify(Ending{
			Reason: "API error", State: thread.TroubleOf(status), Status: status, Refused: 1,
			Provider: Provider{State: thread.StateLimited, Status: status, Fault: thread.FaultOurs, Why: "our cap is reached"},
		}, time.Unix(1e9, 0))
		if kindOf(f) != want || f.Redoes() || f.What != "our cap is reached" || f.Do == "" || f.State != "" || f.Status != 0 {
			t.Errorf("%d: %s, want %s: %+v", status, kindOf(f), want, f)
		}
	}
}

// TestNothingFailsUnclassified: an execution that somebody ends as failed has a failure, with its reason.
func TestNothingFailsUnclassified(t *testing.T) {
	old := Execution{ID: "x", State: Running, Attempt: 2}
	x, _, err := Changed(old, false, func(x *Execution) error { x.State, x.Reason = Failed, "why"; return nil }, nil, time.Unix(1e9, 0))
	if err != nil || x.Failure.Class != ClassAgent || x.Failure.Code != CodeAgent || x.Failure.What != "why" {
		t.Errorf("%+v, %v", x.Failure, err)
	}
	x.State = Queued
	if x, _, err = Claimed(x, "s", time.Unix(1e9, 0)); err != nil || x.Failure != (Failure{}) || !x.After.IsZero() {
		t.Errorf("its next attempt has the failure of the last one: %+v, %v", x.Failure, err)
	}
}
