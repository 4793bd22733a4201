package verbs

import (
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestLeftOutComesBack: a tool that the agent asks for is offered, taken by the verb, and there after the restart, in the
// same conversation; a prompt that speaks of it is sent as it is. No agent takes it.
func TestLeftOutComesBack(t *testing.T) {
	r := e2e.NewRig(t)
	name := r.Demo("-n", "work", "--base", "slim")
	r.Turn(name, "say remember the kettle")
	if said := r.Ok("offer"); said != "nothing is offered" {
		t.Errorf("offered: %s", said)
	}
	r.Turn(name, "to-dos:boil water, make tea") // no word of the lever
	e2e.Await(t, "an offer", func() bool { return r.Status(name).Offer != nil })
	if said := r.Ok("offer", name); !strings.Contains(said, "needs write_todos, which its base leaves out · restart with it") ||
		!strings.Contains(said, "its agent asked for it") {
		t.Errorf("offered:\n%s", said)
	}
	if said := r.Ok("inbox"); !strings.Contains(said, "needs write_todos") {
		t.Errorf("the inbox has\n%s", said)
	}
	shell := r.AgentShell("a shell")
	r.Ok("grants", shell.Name, "--add", "read,start,send,manage")
	if got := shell.Orchestrator("offer", "accept", name); got.Code == 0 || !strings.Contains(got.Stderr, "only the user may do this") {
		t.Errorf("an agent takes it: %+v", got)
	}
	before := r.Status(name)
	if said := r.Ok("offer", "accept", name); said != name+": restarts with write_todos once it waits" {
		t.Errorf("accepted: %s", said)
	}
	e2e.Await(t, "the restart", func() bool {
		s := r.Status(name)
		return s.Execution != nil && s.Execution.ID != before.Execution.ID
	})
	r.AwaitState(name, thread.StateIdle, thread.StateDone)
	if said := r.Ok("send", name, "to-dos:boil water, make tea"); !strings.Contains(said, "make tea") {
		t.Errorf("it says %s", said)
	}
	after := r.Status(name)
	if strings.Join(after.Base.Left, " ") != "tips" || after.Session != before.Session || after.Turn != before.Turn+1 || after.Offer != nil {
		t.Errorf("after the restart: base %+v, session %s, turn %d, offer %+v", after.Base, after.Session, after.Turn, after.Offer)
	}
	if said := r.Ok("find", "kettle"); !strings.Contains(said, name) {
		t.Errorf("its conversation is gone: %s", said)
	}

	other := r.Demo("-n", "other", "--base", "slim")
	r.Turn(other, "say hello")
	const prompt = "todo: buy milk"
	r.Turn(other, prompt)
	s := r.Status(other)
	if s.Offer == nil || !strings.Contains(s.Offer.Why, `speaks of "todo:"`) {
		t.Errorf("offered %+v", s.Offer)
	}
	if said := r.Ok("prompts", other); !strings.Contains(said, prompt) || !strings.Contains(said, "answered") {
		t.Errorf("sent:\n%s", said)
	}
	r.Ok("offer", "decline", other)
	if s := r.Status(other); s.Offer != nil && s.Offer.Lever != "" {
		t.Errorf("declined, and still offered: %+v", s.Offer)
	}
	r.Ok("restart")
	r.Ok("resume", other)
	r.Turn(other, prompt)
	if s := r.Status(other); s.Offer != nil && s.Offer.Lever != "" {
		t.Errorf("offered again: %+v", s.Offer)
	}
}
