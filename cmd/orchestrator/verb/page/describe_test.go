package page

import (
	"testing"

	"orchestrator/thread"
)

// TestState: a thread with an outcome is described by that alone, as on the screen.
func TestState(t *testing.T) {
	status := func(state thread.State, outcome thread.OutcomeKind, change func(*thread.Status)) thread.Status {
		s := thread.Status{State: thread.StateReport{State: state}}
		s.Outcome.Kind = outcome
		if change != nil {
			change(&s)
		}
		return s
	}
	refused := func(s *thread.Status) { s.Prompts = []thread.Prompt{{State: thread.PromptRefused}} }
	for want, s := range map[string]thread.Status{
		"idle":                            status(thread.StateIdle, "", nil),
		"merged":                          status(thread.StateIdle, thread.OutcomeMerged, nil),
		"abandoned":                       status(thread.StateExited, thread.OutcomeAbandoned, func(s *thread.Status) { s.Exit.Code = 1 }),
		"exited (1)":                      status(thread.StateExited, "", func(s *thread.Status) { s.Exit.Code = 1 }),
		"idle, prompt refused":            status(thread.StateIdle, "", refused),
		"working":                         status(thread.StateWorking, "", refused),
		"working, 2 queued":               status(thread.StateWorking, "", func(s *thread.Status) { s.Queued = 2 }),
		"merged, not through the gateway": status(thread.StateIdle, thread.OutcomeMerged, func(s *thread.Status) { s.Around = true }),
	} {
		if got := State(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
