package wave

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// mostRetried is how many rounds of an agent follow by policy, without a person.
const mostRetried = 1

// Stuck takes why the agent of a round is taken to be stuck, or "" when it is not any more, and does what the plan says. It does
// not block.
func (w *Waves) Stuck(of thread.Part, why string) {
	w.engine.do(of.Task, func(t *running) { w.engine.stuck(t, of, why) })
}

// stuck is the step of that. Who works on is asked about, or is stopped by what is stored first: nothing that it does later
// counts.
func (e *Engine) stuck(t *running, of thread.Part, why string) {
	if t.board == nil {
		e.look(t)
	}
	if t.board == nil {
		return
	}
	n, known := t.board.Node(of.Agent)
	if !known || n.Round != of.Round || !n.AtWork() || n.Stalled == why {
		return
	}
	if why == "" {
		e.unstuck(t, n)
		return
	}
	policy := plan.StallShow
	if p := t.board.Task().Plan; p != nil {
		policy = p.Stall.OnStall()
	}
	e.tells(t, n, fmt.Sprintf("round %d: %s (%s)", n.Round, why, policy))
	switch {
	case policy == plan.StallRetry && n.Retried < mostRetried:
		e.beginsAgain(t, n, why)
	case policy == plan.StallRetry || policy == plan.StallStop:
		e.settle(t, n, func(n *plan.Node) {
			n.State, n.Reason, n.Ended, n.Stalled, n.Question, n.Asks = plan.NodeFailed, "stuck: "+why, e.cfg.Now(), why, "", ""
		})
		e.ends(t.name, n, "stuck: "+why)
	default:
		_, err := e.change(t, []string{n.Agent}, func(n *plan.Node) error {
			n.Stalled = why
			if policy == plan.StallAsk && n.State == plan.NodeWorking {
				n.State, n.Asks, n.Asked, n.Answered = plan.NodeAsking, plan.AsksStall, e.cfg.Now(), ""
				n.Question = fmt.Sprintf("It may be stuck: %s. Stop it and begin again?", why)
			}
			return nil
		})
		if err != nil {
			e.retry(t, "write down that an agent is stuck", err)
		}
	}
}

// unstuck takes that an agent is not stuck any more: nobody is asked about it.
func (e *Engine) unstuck(t *running, n plan.Node) {
	_, err := e.change(t, []string{n.Agent}, func(n *plan.Node) error {
		n.Stalled = ""
		if n.State == plan.NodeAsking {
			n.State, n.Asks, n.Question = plan.NodeWorking, "", ""
		}
		return nil
	})
	if err != nil {
		e.retry(t, "write down that an agent goes on", err)
	}
}

// beginsAgain has a node begin another round, and ends the run of the former one.
func (e *Engine) beginsAgain(t *running, was plan.Node, why string) {
	nodes, err := e.change(t, []string{was.Agent}, func(n *plan.Node) error {
		begins(n, n.Given)
		n.Started, n.Asks = e.cfg.Now(), ""
		n.Retried++
		return nil
	})
	if err != nil {
		e.retry(t, "begin an agent again", err)
		return
	}
	e.ends(t.name, was, "stuck: "+why)
	e.start(t, nodes[0])
}

// tells adds a remark to a task.
func (e *Engine) tells(t *running, n plan.Node, text string) {
	if err := e.cfg.Store.Note(e.ctx, t.name, plan.Event{At: e.cfg.Now(), Node: n.Agent, Kind: plan.EventNote, Text: text}); err != nil {
		e.cfg.Log.Warn("note something about a task", "task", t.name, "err", err)
	}
}
