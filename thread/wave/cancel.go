package wave

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
)

// Cancel ends all agents of a task, or one. What is handed over by then stays; of a hand-over at the same moment either that
// comes first, or the cancellation. When it returns that is stored, and what runs is being ended.
func (w *Waves) Cancel(ctx context.Context, a Author, r TaskRef) (View, error) {
	t, err := w.owned(ctx, a, r.Task, "cancel")
	if err != nil {
		return View{}, err
	}
	if t.Status == plan.Pending || t.Status == plan.Proposed {
		_, err = w.cfg.Store.ChangeTask(ctx, t.Name, t.Fence, func(s *plan.Task) error {
			s.Status, s.Reason, s.Ended = plan.Cancelled, "cancelled before it began", w.cfg.Now()
			return nil
		})
		w.cfg.Changed(t.Name)
	} else {
		err = w.engine.wait(ctx, t.Name, func(t *running) error { return w.engine.cancel(t, r.Agent, !a.Agent) })
	}
	if err != nil {
		return View{}, fmt.Errorf("cancel %s: %w", t.Name, err)
	}
	return w.Status(ctx, a, TaskRef{Task: t.Name})
}

// owned returns a task that the author may change: a person any, an agent its own.
func (w *Waves) owned(ctx context.Context, a Author, ref, what string) (plan.Task, error) {
	t, err := w.find(ctx, a, ref)
	if err == nil && !own(a, t) {
		err = thread.Kindf(thread.ErrNotGranted, "%s %s: it is another's", what, t.Name)
	}
	return t, err
}

// cancel is the step that ends all agents of a task, or one. A person takes a task over by that which another server has: it
// may not come back under its name.
func (e *Engine) cancel(t *running, agent string, person bool) error {
	taken, err := e.readAs(t, e.cfg.Alone || person && agent == "")
	if err != nil {
		return err
	}
	if taken {
		e.adopt(t)
	}
	if s := t.board.Task(); s.Status.Final() {
		if s.Status == plan.Cancelled {
			return nil
		}
		return thread.Kindf(thread.ErrRefused, "it is %s already", s.Status)
	}
	var agents []string
	var working []plan.Node
	for _, n := range t.board.Nodes() {
		switch {
		case agent != "" && n.Agent != agent:
			continue
		case n.State.Final() && agent != "":
			return thread.Kindf(thread.ErrRefused, "%s is %s already", n.Agent, n.State)
		case n.State.Final():
			continue
		case n.AtWork():
			working = append(working, n)
		}
		agents = append(agents, n.Agent)
	}
	if agent != "" && len(agents) == 0 {
		return unknownAgent(t, agent)
	}
	cancelled := 0
	_, err = e.change(t, agents, func(n *plan.Node) error {
		if n.State.Final() { // it has just handed over
			return nil
		}
		cancelled++
		n.State, n.Reason, n.Ended = plan.NodeCancelled, "cancelled", e.cfg.Now()
		n.Question, n.Asks, n.Stalled = "", "", ""
		return nil
	})
	if err != nil {
		return err
	}
	failpoint.Hit("wave.cancelled")
	for _, n := range working {
		e.ends(t.name, n, "its task was cancelled")
	}
	e.next(t)
	if cancelled == 0 {
		return thread.Kindf(thread.ErrRefused, "all that was at work has just handed over")
	}
	return nil
}

// ends ends the run of a round that is over. One that is being accepted is ended once it is.
func (e *Engine) ends(task string, n plan.Node, why string) {
	e.aside(func() {
		x, ok, err := e.cfg.Runs.Find(e.ctx, thread.Part{Task: task, Agent: n.Agent, Round: n.Round})
		if err == nil && ok && !x.State.Final() {
			err = e.cfg.Runs.Cancel(e.ctx, x.ID, why)
		}
		if err != nil && e.ctx.Err() == nil {
			e.cfg.Log.Warn("end the run of an agent", "task", task, "agent", n.Agent, "err", err)
			e.later(task, func(*running) { e.ends(task, n, why) })
		}
	})
}

// reads has a task's board made if it has none, for who asks for something of it: what was at work goes on.
func (e *Engine) reads(t *running) error {
	taken, err := e.read(t)
	if err == nil && taken {
		e.adopt(t)
	}
	return err
}
