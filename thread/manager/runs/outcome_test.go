package runs_test

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
	"orchestrator/thread/work"
)

// TestOutcome: what a program said before its process ended decides, whatever that ended by.
func TestOutcome(t *testing.T) {
	said := func(o thread.RunOutcome, gone bool) *thread.RunEvent {
		return &thread.RunEvent{Kind: thread.RunEnd, Outcome: o, Reason: "its reason", Gone: gone}
	}
	pushed, code, over := thread.Exit{Code: 143, Reason: "stopped"}, thread.Exit{Code: 1, Reason: "exited"}, thread.Exit{Code: 137, Reason: "too much", Limit: true}
	for name, c := range map[string]struct {
		ended  runs.Ended
		state  work.State
		reason string
	}{
		"completed":                     {runs.Ended{Said: said(thread.RunCompleted, false), Exit: code}, work.Completed, ""},
		"completed, then pushed":        {runs.Ended{Said: said(thread.RunCompleted, false), Exit: pushed}, work.Completed, ""},
		"completed, then printed on":    {runs.Ended{Said: said(thread.RunCompleted, false), Exit: over}, work.Completed, ""},
		"completed, as its end shows":   {runs.Ended{Said: said(thread.RunCompleted, true)}, work.Completed, ""},
		"failed, then pushed":           {runs.Ended{Said: said(thread.RunFailed, false), Exit: pushed}, work.Failed, "its reason"},
		"cancelled, then pushed":        {runs.Ended{Said: said(thread.RunCancelled, false), Exit: pushed}, work.Cancelled, "its reason"},
		"killed, as its end shows":      {runs.Ended{Said: said(thread.RunFailed, true), Exit: pushed}, work.Lost, "its process was killed by signal 15"},
		"killed without a word":         {runs.Ended{Exit: pushed}, work.Lost, "its process was killed by signal 15"},
		"ended by us, as its end shows": {runs.Ended{Said: said(thread.RunCancelled, true), Exit: pushed, Asked: true}, work.Cancelled, "its reason"},
		"failed, as its end shows":      {runs.Ended{Said: said(thread.RunFailed, true), Exit: code}, work.Failed, "its reason"},
		"over a limit":                  {runs.Ended{Said: said(thread.RunFailed, true), Exit: over}, work.Failed, "too much"},
		"ended with a code and no word": {runs.Ended{Exit: code}, work.Failed, "its process ended with code 1 and did not say how the work ended; see what it printed"},
		"cancelled without a reason":    {runs.Ended{Said: &thread.RunEvent{Outcome: thread.RunCancelled}}, work.Cancelled, "it was interrupted"},
	} {
		if state, reason := c.ended.Outcome(); state != c.state || reason != c.reason {
			t.Errorf("%s: %s %q, want %s %q", name, state, reason, c.state, c.reason)
		}
	}
}
