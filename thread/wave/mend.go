package wave

import (
	"context"

	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// mend asks an agent once in a round to mend what it has handed over, in the same thread; a node whose agent was asked already
// has failed. Whether it was asked is known by the executions of its thread: a crash after it is written down that it is
// asked, and before it is, does not lose the question, nor ask it twice.
func (e *Engine) mend(t *running, n plan.Node, x work.Execution, problem error) {
	a, _ := t.board.Agent(n.Agent)
	first, err := e.cfg.first(e.ctx, x)
	switch {
	case err != nil:
		e.deliverLater(t, n, x, err)
		return
	case n.Repaired && !first:
		e.refuses(t, n, x, problem)
		return
	}
	nodes, err := e.change(t, []string{n.Agent}, func(n *plan.Node) error {
		n.Repaired, n.Execution, n.Exec, n.Thread = true, x.ID, x.Name, x.Thread
		return nil
	})
	if err != nil {
		e.deliverLater(t, n, x, err)
		return
	}
	failpoint.Hit("wave.mending")
	n = nodes[0]
	t.about[n.Agent] = n.Round
	e.aside(func() {
		next, err := e.cfg.Runs.Again(e.ctx, x.Thread, plan.Mend(a, problem))
		e.do(t.name, func(t *running) {
			delete(t.about, n.Agent)
			e.started(t, n, next, err)
		})
	})
}

// deliverLater has what an agent hands over looked at again after an error of the store.
func (e *Engine) deliverLater(t *running, was plan.Node, x work.Execution, err error) {
	if !passing(err) {
		e.retry(t, "ask an agent to mend what it hands over", err)
		return
	}
	e.later(t.name, func(t *running) {
		if t.board == nil {
			e.look(t)
		} else if n, ok := e.round(t, was); ok {
			e.deliver(t, n, x)
		}
	})
}

// first reports whether no execution of the same round is older in a thread.
func (c Config) first(ctx context.Context, x work.Execution) (bool, error) {
	list, err := c.Record.Recorded(ctx, work.RecordQuery{Part: x.Part, Limit: 1000})
	if err != nil {
		return false, err
	}
	for _, other := range list {
		if other.ID != x.ID && other.Thread == x.Thread && other.Created.Before(x.Created) {
			return false, nil
		}
	}
	return true, nil
}

// refuses has a node fail whose agent handed over what cannot be used. What it has said stays readable in its thread.
func (e *Engine) refuses(t *running, n plan.Node, x work.Execution, problem error) {
	e.cfg.Runs.Dispose(x)
	e.settle(t, n, func(n *plan.Node) {
		n.Question, n.Asks, n.Stalled = "", "", ""
		n.State, n.Reason, n.Ended = plan.NodeFailed, "handed over what cannot be used: "+reason(problem), e.cfg.Now()
		n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
	})
}
