package wave

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// The order of writes of a node's round, and what a crash after each leaves for the next start:
//
//  1. the node, working, its round and fence raised   no run of that round: it is started, once
//  2. the run's thread, execution and prompt          as for every run; the round's run is found by its part, and adopted
//  3. the node, with the name of the execution        the same
//  4. the execution, ended                            found by its part: what it said is handed over
//  5. the hand-over with the node, delivered          what reads it begins
//
// So nothing begins that is not written down, nothing begins twice, and what is handed over is stored once.

// look has a task go on: from its rows if it is not in memory. What the store refuses is tried again.
func (e *Engine) look(t *running) {
	taken, err := e.read(t)
	switch {
	case err != nil && passing(err):
		e.later(t.name, e.look)
		return
	case err != nil:
		if !errors.Is(err, thread.ErrNotFound) {
			e.cfg.Log.Warn("go on with a task", "task", t.name, "err", err)
		}
		return
	case taken:
		failpoint.Hit("wave.taken")
		e.adopt(t)
	}
	e.next(t)
}

// retry has a task looked at again after an error of the store.
func (e *Engine) retry(t *running, what string, err error) {
	if e.ctx.Err() != nil {
		return
	}
	e.cfg.Log.Warn(what, "task", t.name, "err", err)
	if errors.Is(err, work.ErrFence) {
		e.do(t.name, e.look)
		return
	}
	e.later(t.name, e.look)
}

// adopt finds out what became of the rounds that were at work when a task was read.
func (e *Engine) adopt(t *running) {
	for _, n := range t.board.Nodes() {
		if n.AtWork() {
			e.start(t, n)
		}
	}
}

// next does what follows for a task, until nothing does.
func (e *Engine) next(t *running) {
	if t.board == nil || t.board.Task().Status != plan.InProgress {
		return
	}
	for {
		steps := t.board.Next()
		if len(steps) == 0 {
			break
		}
		if err := e.take(t, steps); err != nil {
			if t.board != nil {
				for _, s := range steps {
					t.board.Drop(s.Agent)
				}
			}
			e.retry(t, "write down what follows", err)
			return
		}
	}
	if t.board.Open() > 0 {
		return
	}
	status, reason := t.board.Outcome()
	err := e.changeTask(t, func(s *plan.Task) error {
		s.Status, s.Reason, s.Ended = status, reason, e.cfg.Now()
		return nil
	})
	if err != nil {
		e.retry(t, "write down the end of a task", err)
		return
	}
	failpoint.Hit("wave.finished")
}

// take writes down what follows, in one transaction, and starts what begins.
func (e *Engine) take(t *running, steps []plan.Step) error {
	by := make(map[string]plan.Step, len(steps))
	agents := make([]string, len(steps))
	for i, s := range steps {
		by[s.Agent], agents[i] = s, s.Agent
	}
	now := e.cfg.Now()
	nodes, err := e.change(t, agents, func(n *plan.Node) error {
		s := by[n.Agent]
		if s.Without != nil {
			n.Asks, n.Answered, n.Without = plan.AsksUpstream, yesNo(s.Without.Yes)+", as for "+s.As, s.Without
		}
		switch s.Do {
		case plan.Begin:
			begins(n, s.Given)
			n.Started = now
		case plan.AskIt:
			n.State, n.Asks, n.Question, n.Asked, n.Answered = plan.NodeAsking, s.Asks, s.Question, now, ""
		default:
			n.State, n.Reason, n.Ended = plan.NodeSkipped, s.Reason, now
		}
		return nil
	})
	if err != nil {
		return err
	}
	failpoint.Hit("wave.begun")
	for _, n := range nodes {
		if n.State == plan.NodeWorking {
			e.start(t, n)
		}
	}
	return nil
}

// start has the run of a node's round accepted, beside the task's steps, or finds the one that there is.
func (e *Engine) start(t *running, n plan.Node) {
	if t.about[n.Agent] == n.Round {
		return
	}
	t.about[n.Agent] = n.Round
	task := t.board.Task()
	a, _ := t.board.Agent(n.Agent)
	e.aside(func() {
		e.starting <- struct{}{}
		x, err := e.startRun(task, n, a)
		<-e.starting
		e.do(t.name, func(t *running) {
			delete(t.about, n.Agent)
			e.started(t, n, x, err)
		})
	})
}

// startRun starts the run of a round, or finds it.
func (e *Engine) startRun(task plan.Task, n plan.Node, a plan.Agent) (work.Execution, error) {
	x, ok, err := e.cfg.Runs.Find(e.ctx, thread.Part{Task: task.Name, Agent: n.Agent, Round: n.Round})
	if err != nil || ok {
		return x, err
	}
	r, err := e.newRun(task, n, a)
	if err != nil {
		return x, err
	}
	return e.cfg.Runs.Start(e.ctx, r)
}

// started notes the run of a round. One whose round is over is cancelled: nobody would look after it.
func (e *Engine) started(t *running, was plan.Node, x work.Execution, err error) {
	if y, ok := t.early[was.Agent]; ok && err == nil && y.ID == x.ID {
		x = y
	}
	delete(t.early, was.Agent)
	n, ok := e.round(t, was)
	switch {
	case t.board == nil:
		e.do(t.name, e.look)
	case !ok:
		if err == nil && !x.State.Final() {
			e.cancelRun(x.ID, "its round is over")
		}
	case err != nil && passing(err):
		e.later(t.name, func(t *running) {
			if n, ok := e.round(t, was); ok {
				e.start(t, n)
			}
		})
	case err != nil:
		e.cfg.Log.Warn("start an agent of a plan", "task", t.name, "agent", n.Agent, "err", err)
		e.fails(t, n, "not started: "+reason(err))
	case x.State.Final():
		e.over(t, n, x)
	default:
		e.notes(t, n, x)
		failpoint.Hit("wave.started")
	}
}

// round returns a node of the board if it is still at work in a round.
func (e *Engine) round(t *running, was plan.Node) (plan.Node, bool) {
	if t.board == nil {
		return was, false
	}
	n, ok := t.board.Node(was.Agent)
	return n, ok && n.AtWork() && n.Round == was.Round
}

// cancelRun ends a run beside the task's steps.
func (e *Engine) cancelRun(id work.ID, why string) {
	e.aside(func() {
		if err := e.cfg.Runs.Cancel(e.ctx, id, why); err != nil && e.ctx.Err() == nil {
			e.cfg.Log.Warn("cancel an agent of a plan", "execution", string(id), "err", err)
		}
	})
}

// notes writes down which execution a round has.
func (e *Engine) notes(t *running, n plan.Node, x work.Execution) {
	if n.Execution == x.ID {
		return
	}
	_, err := e.change(t, []string{n.Agent}, func(n *plan.Node) error {
		n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
		return nil
	})
	if err != nil {
		e.retry(t, "write down the run of an agent", err)
	}
}

// heard takes that an execution of a plan has another state.
func (e *Engine) heard(x work.Execution) {
	e.do(x.Part.Task, func(t *running) {
		if t.board == nil { // it is read as it is by then
			e.look(t)
		}
		if t.board == nil {
			return
		}
		n, known := t.board.Node(x.Part.Agent)
		switch {
		case known && leftOver(n, x):
			e.cancelRun(x.ID, "its round is over")
		case !known || n.Round != x.Part.Round:
		case n.AtWork() && x.State == work.Failed && x.Attempt == 0:
			e.unbegun(t, n, x)
		case n.AtWork() && x.State.Final():
			failpoint.Hit("wave.ended")
			e.over(t, n, x)
		case n.AtWork():
			e.notes(t, n, x)
		case n.Execution == x.ID && goesOn(n):
			e.resumed(t, n, x)
		}
		e.cfg.Changed(t.name)
	})
}

// unbegun takes that an execution has failed which was never tried. One that a dead server had not accepted yet is none of the
// round: that has another one, or gets it.
func (e *Engine) unbegun(t *running, n plan.Node, x work.Execution) {
	y, ok, err := e.cfg.Runs.Find(e.ctx, x.Part)
	switch {
	case err != nil:
		e.later(t.name, func(t *running) {
			if n, at := e.round(t, n); at {
				e.unbegun(t, n, x)
			}
		})
	case ok && y.ID == x.ID:
		failpoint.Hit("wave.ended")
		e.over(t, n, x)
	default:
		e.start(t, n)
	}
}

// goesOn reports whether a node follows its execution if a person has that go on. One that was stopped as stuck does not: its
// run is being ended.
func goesOn(n plan.Node) bool {
	return n.State == plan.NodeFailed && n.Stalled == "" || n.State == plan.NodeAsking && n.Asks == plan.AsksLost
}

// resumed takes that a person has the run of a node go on that had failed or was lost: if that is how it is stored, for what is
// heard of an execution may come in another order than it was.
func (e *Engine) resumed(t *running, n plan.Node, heard work.Execution) {
	x, err := e.cfg.Record.Execution(e.ctx, string(heard.ID))
	switch {
	case err != nil && !passing(err):
		e.cfg.Log.Warn("have an agent go on", "task", t.name, "agent", n.Agent, "err", err)
		return
	case err != nil:
		e.later(t.name, func(t *running) {
			if t.board == nil {
				return // it is read as it is by then
			}
			if n, _ := t.board.Node(n.Agent); n.Execution == heard.ID && goesOn(n) {
				e.resumed(t, n, heard)
			}
		})
		return
	}
	if x.State.Final() && x.State != work.Completed {
		return
	}
	if t.board.Task().Status.Final() {
		err := e.changeTask(t, func(s *plan.Task) error {
			s.Status, s.Reason, s.Ended, s.Server = plan.InProgress, "", time.Time{}, e.cfg.Server
			return nil
		})
		if err != nil {
			e.retry(t, "have a task go on", err)
			return
		}
	}
	nodes, err := e.change(t, []string{n.Agent}, func(n *plan.Node) error {
		n.State, n.Reason, n.Ended, n.Question, n.Asks = plan.NodeWorking, "", time.Time{}, "", ""
		return nil
	})
	if err != nil {
		e.retry(t, "have an agent go on", err)
		return
	}
	if x.State.Final() {
		e.over(t, nodes[0], x)
	}
}

// over takes that the execution of a round has ended: what it has said is handed over, or the node fails or asks.
func (e *Engine) over(t *running, n plan.Node, x work.Execution) {
	switch {
	case x.Instead != "":
		e.follow(t, n, x.Instead)
	case x.State == work.Completed:
		e.deliver(t, n, x)
	case x.State == work.Lost:
		e.settle(t, n, func(n *plan.Node) {
			n.State, n.Asks, n.Asked, n.Answered = plan.NodeAsking, plan.AsksLost, e.cfg.Now(), ""
			n.Question = fmt.Sprintf("%s was lost (%s): begin again?", x.Name, x.Reason)
			n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
		})
	default:
		state := plan.NodeFailed
		if x.State == work.Cancelled {
			state = plan.NodeCancelled
		}
		e.settle(t, n, func(n *plan.Node) {
			n.Question, n.Asks, n.Stalled = "", "", ""
			n.State, n.Reason, n.Ended = state, cmp.Or(x.Reason, x.Name+" "+string(x.State)), e.cfg.Now()
			n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
		})
	}
}

// follow has a node go on with the execution that took the place of its own.
func (e *Engine) follow(t *running, n plan.Node, id work.ID) {
	x, err := e.cfg.Record.Execution(e.ctx, string(id))
	switch {
	case err != nil && passing(err):
		e.later(t.name, func(t *running) {
			if n, ok := e.round(t, n); ok {
				e.follow(t, n, id)
			}
		})
	case err != nil:
		e.fails(t, n, reason(err))
	case x.State.Final():
		e.over(t, n, x)
	default:
		e.notes(t, n, x)
	}
}

// fails has a node fail.
func (e *Engine) fails(t *running, n plan.Node, why string) {
	e.settle(t, n, func(n *plan.Node) {
		n.Question, n.Asks, n.Stalled = "", "", ""
		n.State, n.Reason, n.Ended = plan.NodeFailed, why, e.cfg.Now()
	})
}

// settle writes down how a round ended, and does what follows.
func (e *Engine) settle(t *running, n plan.Node, change func(*plan.Node)) {
	_, err := e.change(t, []string{n.Agent}, func(n *plan.Node) error { change(n); return nil })
	switch {
	case err != nil && passing(err):
		e.later(t.name, func(t *running) {
			if n, ok := e.round(t, n); ok {
				e.settle(t, n, change)
			} else if t.board == nil {
				e.look(t)
			}
		})
	case err != nil:
		e.retry(t, "write down the end of an agent", err)
	default:
		e.next(t)
	}
}

// deliver has what an agent hands over stored, beside the task's steps: either that comes first, or a cancellation.
func (e *Engine) deliver(t *running, n plan.Node, x work.Execution) {
	if t.about[n.Agent] == n.Round {
		t.early[n.Agent] = x
		return
	}
	t.about[n.Agent] = n.Round
	task := t.board.Task()
	a, _ := t.board.Agent(n.Agent)
	e.aside(func() {
		nodes, err := e.handOver(task, n, a, x)
		e.do(t.name, func(t *running) {
			delete(t.about, n.Agent)
			delete(t.early, n.Agent)
			e.delivered(t, n, x, nodes, err)
		})
	})
}

// mostListed is how many agents a task has at most whose threads stay in the lists once they have handed over: of larger ones
// the graph shows them, and nobody looks through a list of thousands.
const mostListed = 200

// delivered takes that what an agent hands over is stored.
func (e *Engine) delivered(t *running, was plan.Node, x work.Execution, nodes []plan.Node, err error) {
	n, ok := e.round(t, was)
	switch {
	case t.board == nil:
		e.look(t)
	case err == nil:
		failpoint.Hit("wave.delivered")
		e.cfg.Runs.Dispose(x)
		if len(t.board.Task().Plan.Agents) > mostListed {
			e.cfg.Runs.Rest(x.Thread)
		}
		e.put(t, nodes)
		e.next(t)
	case !ok: // it was cancelled meanwhile
		e.cfg.Runs.Dispose(x)
	case errors.Is(err, work.ErrFence):
		if n.Fence == was.Fence { // somebody else has written
			t.board = nil
		}
		e.look(t)
	case passing(err):
		e.deliverLater(t, was, x, err)
	case errors.Is(err, thread.ErrInvalid):
		e.mend(t, n, x, err)
	default:
		e.refuses(t, n, x, err)
	}
}

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

// refuses has a node fail whose agent handed over what cannot be used. What it has said stays readable in its thread.
func (e *Engine) refuses(t *running, n plan.Node, x work.Execution, problem error) {
	e.cfg.Runs.Dispose(x)
	e.settle(t, n, func(n *plan.Node) {
		n.Question, n.Asks, n.Stalled = "", "", ""
		n.State, n.Reason, n.Ended = plan.NodeFailed, "handed over what cannot be used: "+reason(problem), e.cfg.Now()
		n.Execution, n.Exec, n.Thread = x.ID, x.Name, x.Thread
	})
}
