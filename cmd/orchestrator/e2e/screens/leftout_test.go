package screens

import (
	"slices"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestLeftOutTakenByAKey types a prompt that speaks of what the base leaves out, and takes it back by one key.
func TestLeftOutTakenByAKey(t *testing.T) {
	t.Parallel()
	r := e2e.NewRig(t)
	name := r.Demo("kettle", "--base", "slim")
	s := r.Open(100, 30, "attach", name)
	s.See("demo agent")
	s.Press("todo: boil water\r") // typed in the agent itself
	e2e.Await(t, "the answer and the offer", func() bool { s := r.Status(name); return s.Turn == 1 && s.Offer != nil })
	if said := r.Ok("checkpoint", "list", name); !slices.ContainsFunc(r.Timeline(name), func(c thread.Checkpoint) bool { return c.Prompt == "todo: boil water" }) {
		t.Errorf("the agent was asked something else:\n%s", said)
	}
	before := r.Status(name).Execution.ID
	s.Press("\x11")
	s.See("base needs write_todos:")
	s.Press("a")
	s.See("restarts with write_todos once it waits")
	e2e.Await(t, "the restart", func() bool {
		x := r.Status(name).Execution
		return x != nil && x.ID != before
	})
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	s.Press("\r")
	s.See("terminal · timeline", "demo agent")
	s.Press("todo: make tea\r")
	s.See("1. make tea")
	s.Press("\x11")
	s.Press("q")
	s.End()
}
