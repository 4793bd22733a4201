package outbox

import (
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// Decide returns the prompt to type now, which has no ID if it is only the primer, or why it has to wait, "" if there is
// none, or one is being typed or waits for other threads. left reports whether the agent has given up the prompt that it
// has.
func (o *Outbox) Decide(g Gate, left func() bool) (p thread.Prompt, why string, due bool) {
	if o.typing >= active {
		o.typing = changed
		return p, "", false
	}
	p, queued := o.Next()
	switch why := g.Closed(); {
	case !queued && (o.primer == "" || o.only != ""):
		return p, "", false
	case why != "":
		return p, why, false
	case o.Open() && !left():
		return p, "waiting for another prompt to be answered", false
	}
	return p, "", o.typing == idle
}

// Wait has the prompt that is due wait until prompts of other threads are typed. Waited ends that; what is due is then
// decided again.
func (o *Outbox) Wait() { o.typing = waiting }

// Waited ends Wait.
func (o *Outbox) Waited() { o.typing = idle }

// Type begins to type a prompt, after a number of model requests. Typed ends it.
func (o *Outbox) Type(id thread.PromptID, requests int) {
	o.typing = active
	o.Begin(id, requests)
}

// Reader is what is known of the program that a prompt was typed into.
type Reader struct {
	Gone   bool // it is not the thread's agent any more
	Silent bool // nothing reports its answers
	Blind  bool // only its requests show what it does
}

// Ending is how the typing of a prompt ended.
type Ending struct {
	Prompt thread.Prompt
	Event  Event // what happened to it; "" if that is known already
	Reason string
	Later  bool // it is tried again after a while
}

// EndedWith is the reason of a command that ended its agent.
const EndedWith = "the agent ended with it"

// Typed ends the typing of a prompt. err is that of the session.
func (o *Outbox) Typed(id thread.PromptID, err error, r Reader) Ending {
	again := o.typing == changed
	o.typing = idle
	if (err == nil || errors.Is(err, thread.ErrNoReaction)) && !r.Gone {
		o.primer = ""
	}
	p, _ := o.Prompt(id)
	if p.State != thread.PromptTyping {
		return Ending{Prompt: p}
	}
	e := ending(p, err, r)
	e.Prompt, e.Later = p, e.Later && !again
	return e
}

func ending(p thread.Prompt, err error, r Reader) Ending {
	switch {
	case errors.Is(err, thread.ErrNoReaction) && r.Blind:
		return Ending{Event: Taken, Reason: thread.ErrNoReaction.Error()}
	case errors.Is(err, thread.ErrNoReaction):
		return Ending{Event: Typed, Reason: thread.ErrNoReaction.Error()}
	case err == nil && r.Silent:
		return Ending{Event: Taken, Reason: "typed; this program does not report its answers"}
	case err == nil:
		return Ending{Event: Typed}
	case errors.Is(err, thread.ErrSent) && errors.Is(err, thread.ErrNotRunning) && turns.Command(p.Text):
		return Ending{Event: Taken, Reason: EndedWith}
	case errors.Is(err, thread.ErrSent):
		return Ending{Event: Stopped, Reason: "the agent ended before it answered"}
	case errors.Is(err, thread.ErrNotRunning):
		return Ending{Event: Postponed, Reason: "the agent exited before it was typed"}
	case !errors.Is(err, thread.ErrTyped) && (errors.Is(err, thread.ErrApproval) || errors.Is(err, thread.ErrBusy)):
		e := Ending{Event: Postponed, Reason: plaintext.FirstLine(err.Error()), Later: true}
		if later := (*thread.NotReadyError)(nil); errors.As(err, &later) {
			e.Reason = later.Reason
		}
		return e
	default:
		return Ending{Event: Refused, Reason: plaintext.FirstLine(err.Error())}
	}
}
