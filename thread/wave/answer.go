package wave

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/secret"
)

// mostRemark is how long a remark is at most, in bytes.
const mostRemark = 4000

// Answer answers what a person is asked about a node, once: to who answers later it says what was said. What asks whether to go
// on without the same missing hand-overs is answered with it, be it now or later.
func (w *Waves) Answer(ctx context.Context, a Author, r AnswerRequest) (View, error) {
	t, err := w.find(ctx, a, r.Task)
	if err != nil {
		return View{}, err
	}
	err = w.engine.wait(ctx, t.Name, func(t *running) error { return w.engine.answer(t, r) })
	if err != nil {
		return View{}, fmt.Errorf("answer %s of %s: %w", thread.Excerpt(r.Agent), t.Name, err)
	}
	return w.Status(ctx, a, TaskRef{Task: t.Name})
}

// answer is the step that answers.
func (e *Engine) answer(t *running, r AnswerRequest) error {
	if err := e.reads(t); err != nil {
		return err
	}
	n, known := t.board.Node(r.Agent)
	switch {
	case !known:
		return unknownAgent(t, r.Agent)
	case n.State != plan.NodeAsking:
		return notAsking(n)
	case !r.Asked.IsZero() && !r.Asked.Equal(n.Asked):
		return thread.Kindf(thread.ErrRefused, "it asks something else now: %s", n.Question)
	}
	said := yesNo(r.Yes)
	if text := plaintext.Cut(secret.Redact(strings.TrimSpace(r.Text)), mostRemark); text != "" {
		said += ": " + text
	}
	agents := []string{r.Agent}
	if !r.Only {
		agents = t.board.AsksSame(r.Agent)
	}
	now := e.cfg.Now().UTC()
	_, err := e.change(t, agents, func(n *plan.Node) error {
		if n.State != plan.NodeAsking {
			return notAsking(*n)
		}
		if n.Asks == plan.AsksUpstream {
			n.Without = &plan.Without{Yes: r.Yes, Only: r.Only, At: now}
		}
		answered(n, r.Yes, now)
		n.Answered = said
		return nil
	})
	if err != nil {
		return err
	}
	failpoint.Hit("wave.answered")
	if n.AtWork() && r.Yes { // it begins again
		e.ends(t.name, n, "stuck: "+n.Stalled)
	}
	e.next(t)
	return nil
}

// answered is what an answer makes of a node.
func answered(n *plan.Node, yes bool, at time.Time) {
	state, reason := plan.NodeWaiting, ""
	switch {
	case n.Asks == plan.AsksGate && yes:
		state = plan.NodeDelivered
	case n.Asks == plan.AsksGate:
		state, reason = plan.NodeFailed, "a person said no"
	case n.Asks == plan.AsksUpstream && !yes:
		state, reason = plan.NodeSkipped, plan.LeftOut
	case n.Asks == plan.AsksLost && !yes:
		state, reason = plan.NodeFailed, "its run was lost, and a person did not begin it again"
	case n.Asks == plan.AsksStall && !yes:
		state = plan.NodeWorking
	}
	n.State, n.Reason = state, reason
	if state.Final() {
		n.Ended = at
	}
}

// notAsking is the error for a node that asks nothing: it says what was said.
func notAsking(n plan.Node) error {
	if n.Answered == "" {
		return thread.Kindf(thread.ErrRefused, "it asks nothing: it is %s", n.State)
	}
	when := ""
	if n.Gate && !n.Ended.IsZero() {
		when = ", " + n.Ended.Local().Format("15:04")
	}
	return thread.Kindf(thread.ErrRefused, "it was answered: %s%s", plaintext.OneLine(n.Answered, 200), when)
}
