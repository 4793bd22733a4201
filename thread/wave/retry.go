package wave

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
)

// Retry begins again: what has failed of a task, one agent, or with From one and all that follow on it. What an agent has
// handed over stays current until it hands over another version.
func (w *Waves) Retry(ctx context.Context, a Author, r RetryRequest) (View, error) {
	t, err := w.owned(ctx, a, r.Task, "retry")
	if err != nil {
		return View{}, err
	}
	if r.From && r.Agent == "" {
		return View{}, thread.Kindf(thread.ErrInvalid, "retry %s: name the agent that it begins again from", t.Name)
	}
	err = w.engine.wait(ctx, t.Name, func(t *running) error { return w.engine.again(t, r) })
	if err != nil {
		return View{}, fmt.Errorf("retry %s: %w", t.Name, err)
	}
	return w.Status(ctx, a, TaskRef{Task: t.Name})
}

// again is the step that begins again. The task is at work first: a crash after that leaves one that ends as it had ended.
func (e *Engine) again(t *running, r RetryRequest) error {
	if err := e.reads(t); err != nil {
		return err
	}
	task := t.board.Task()
	if task.Status == plan.Pending || task.Status == plan.Proposed {
		return thread.Kindf(thread.ErrRefused, "it has not begun")
	}
	if !e.cfg.Alone && task.Server != e.cfg.Server {
		return elsewhere(task)
	}
	agents, err := chosen(t.board, r)
	if err != nil {
		return err
	}
	if task.Status.Final() {
		err := e.changeTask(t, func(s *plan.Task) error {
			s.Status, s.Reason, s.Ended, s.Server = plan.InProgress, "", time.Time{}, e.cfg.Server
			return nil
		})
		if err != nil {
			return err
		}
	}
	now := e.cfg.Now().UTC()
	_, err = e.change(t, agents, func(n *plan.Node) error {
		waits(n)
		n.Again = now
		return nil
	})
	if err != nil {
		e.do(t.name, e.look)
		return err
	}
	failpoint.Hit("wave.retried")
	e.next(t)
	return nil
}

// chosen returns what begins again.
func chosen(b *plan.Board, r RetryRequest) ([]string, error) {
	if r.Agent == "" {
		return failed(b)
	}
	n, known := b.Node(r.Agent)
	switch {
	case !known:
		return nil, fmt.Errorf("agent %q: %w", thread.Excerpt(r.Agent), thread.ErrNotFound)
	case n.State == plan.NodeWorking:
		return nil, thread.Hint(thread.Kindf(thread.ErrRefused, "%s is at work", n.Agent), "cancel it first")
	case !n.State.Final():
		return nil, thread.Kindf(thread.ErrRefused, "%s has not ended: it is %s", n.Agent, n.State)
	}
	agents, done := []string{r.Agent}, []string{}
	for _, name := range b.Readers(r.Agent) {
		reader, _ := b.Node(name)
		switch {
		case reader.State == plan.NodeWorking && r.From:
			return nil, thread.Hint(thread.Kindf(thread.ErrRefused, "%s is at work", name), "cancel it first")
		case reader.State == plan.NodeSkipped, r.From && reader.State.Final(), asksOver(reader):
			agents = append(agents, name)
		case reader.State == plan.NodeDelivered && !reader.Gate:
			done = append(done, name)
		}
	}
	if len(done) > 0 && !r.From && !r.Agreed && n.State == plan.NodeDelivered {
		return nil, thread.Hint(
			thread.Kindf(thread.ErrApproval, "%s handed over already to what is done: %s", r.Agent, few(done)),
			"add --yes to begin it again alone: they become stale if it hands over something else; or --from to begin them again, too")
	}
	return agents, nil
}

// asksOver reports whether a node asks about what was handed over to it, or was not: that is over when what it reads begins
// again, and so is the question.
func asksOver(n plan.Node) bool {
	return n.State == plan.NodeAsking && (n.Asks == plan.AsksUpstream || n.Asks == plan.AsksGate)
}

// failed returns what has failed, with what was left out because of it.
func failed(b *plan.Board) ([]string, error) {
	again := map[string]bool{}
	for _, n := range b.Nodes() {
		if n.State != plan.NodeFailed && n.State != plan.NodeCancelled {
			continue
		}
		again[n.Agent] = true
		for _, name := range b.Readers(n.Agent) {
			if reader, _ := b.Node(name); reader.State == plan.NodeSkipped || asksOver(reader) {
				again[name] = true
			}
		}
	}
	if len(again) == 0 {
		return nil, thread.Hint(thread.Kindf(thread.ErrRefused, "nothing of it has failed"), "name an agent with --agent")
	}
	var agents []string
	for _, n := range b.Nodes() {
		if again[n.Agent] {
			agents = append(agents, n.Agent)
		}
	}
	return agents, nil
}

// few names the first ones.
func few(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(slices.Clone(names), ", ")
}
