package ui

import (
	"testing"

	"orchestrator/thread"
)

// workflowOffered is an offer of a tool that a base leaves out.
var workflowOffered = thread.Offer{
	ID: "o3", Thread: "auth-feature-a3f2", Rule: thread.OfferBase, Lever: "workflows", Needs: "Workflow",
	Why: "its agent asked for it; its base leaves out workflows: scripts that run many agents",
}

// A tool that a base leaves out is offered in the same bar as a fork, and one key takes it.
func TestLeftOutIsOffered(t *testing.T) {
	for _, c := range []struct {
		keys []string
		call string
		told string
	}{
		{[]string{"a!"}, "offer o3 take", "restarts with Workflow once it waits"},
		{[]string{"x!"}, "offer o3 dismiss", "Offer dismissed"},
		{[]string{". t", "right", "enter"}, "offer o3 off", "Offers of left out tools: off"},
	} {
		srv := world()
		play(t, srv, 120, 36, nil, func(r *rig) {
			stage(r)
			r.offer(workflowOffered)
			r.must("base needs Workflow:", "a restart with it", "x dismiss")
			r.never("fork?")
			r.keys(c.keys...)
			r.mustAsk(c.call)
			r.must(c.told)
			r.never("needs Workflow")
			if n := srv.count("offer"); n != 1 || srv.asked("fork") {
				t.Errorf("calls %q", srv.calls)
			}
		})
	}
}

// A fork of a thread for which it is offered has it, unless the person says otherwise.
func TestLeftOutIsForked(t *testing.T) {
	for _, with := range []bool{true, false} {
		srv := world()
		play(t, srv, 120, 36, nil, func(r *rig) {
			stage(r)
			r.offer(workflowOffered)
			r.keys("f")
			r.must("with Workflow, which its base leaves out")
			r.keys("other way")
			if !with {
				r.keys("tab", "tab", "tab", "left")
				r.must("without it, as in")
			}
			r.keys("enter")
			r.mustAsk("fork auth-feature-a3f2")
			if with != srv.asked(`the fork keeps ["workflows"]`) {
				t.Errorf("with it: %v, calls %q", with, srv.calls)
			}
		})
	}
}
