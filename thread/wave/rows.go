package wave

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// read has a task's board made of its rows if it has none. A task at work that another server had is taken over: nothing that
// was begun before changes it any more. taken is set for one that was read and is at work here.
func (e *Engine) read(t *running) (taken bool, err error) { return e.readAs(t, e.cfg.Alone) }

// readAs is read; with others it takes over one that another server has.
func (e *Engine) readAs(t *running, others bool) (taken bool, err error) {
	if t.board != nil {
		return false, nil
	}
	task, err := e.cfg.Store.Task(e.ctx, t.name)
	if err != nil {
		return false, err
	}
	if task.Status == plan.InProgress {
		if !others && task.Server != e.cfg.Server {
			return false, elsewhere(task)
		}
		if err = e.cfg.limit(e.ctx, task); err != nil { // a crash may have come before it was set
			return false, err
		}
		task, err = e.cfg.Store.Supersede(e.ctx, t.name, func(s *plan.Task) error {
			if s.Status != plan.InProgress || !others && s.Server != e.cfg.Server {
				return elsewhere(*s)
			}
			s.Server = e.cfg.Server
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	nodes, err := e.cfg.Store.Nodes(e.ctx, t.name)
	if err != nil {
		return false, err
	}
	t.board = plan.NewBoard(task, nodes)
	return task.Status == plan.InProgress, nil
}

// elsewhere is the error for a task that another server has.
func elsewhere(t plan.Task) error {
	return thread.Hint(thread.Kindf(thread.ErrRefused, "%s is at work on %s", t.Name, cmp.Or(t.Server, "no server")), "use it there")
}

// change changes nodes of a task, and takes over what is stored then. After an error the board is what it was, or is read
// again if somebody else has written.
func (e *Engine) change(t *running, agents []string, change func(*plan.Node) error) ([]plan.Node, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	fences := make(map[string]int64, len(agents))
	for _, a := range agents {
		n, known := t.board.Node(a)
		if !known {
			return nil, unknownAgent(t, a)
		}
		fences[a] = n.Fence
	}
	nodes, err := e.cfg.Store.ChangeNodes(e.ctx, t.name, fences, change)
	if err != nil {
		if errors.Is(err, work.ErrFence) {
			t.board = nil
		}
		return nil, err
	}
	e.put(t, nodes)
	return nodes, nil
}

// put takes over nodes as they are stored, and tells of them.
func (e *Engine) put(t *running, nodes []plan.Node) {
	for _, n := range nodes {
		was, _ := t.board.Node(n.Agent)
		t.board.Put(n)
		if n.State == plan.NodeAsking && (was.State != plan.NodeAsking || !was.Asked.Equal(n.Asked)) {
			e.cfg.Asked(questionOf(t.board.Task(), n))
		}
	}
	e.cfg.Changed(t.name)
}

// changeTask changes the task itself.
func (e *Engine) changeTask(t *running, change func(*plan.Task) error) error {
	task, err := e.cfg.Store.ChangeTask(e.ctx, t.name, t.board.Task().Fence, change)
	if err != nil {
		if errors.Is(err, work.ErrFence) {
			t.board = nil
		}
		return err
	}
	t.board.SetTask(task)
	e.cfg.Changed(t.name)
	if task.Status.Final() {
		e.cfg.Over(task)
	}
	return nil
}

// unknownAgent is the error for an agent that a task does not have.
func unknownAgent(t *running, agent string) error {
	var names []string
	for _, n := range t.board.Nodes() {
		if len(names) < 8 {
			names = append(names, n.Agent)
		}
	}
	slices.Sort(names)
	return thread.Hint(fmt.Errorf("%s has no agent %q: %w", t.name, thread.Excerpt(agent), thread.ErrNotFound),
		fmt.Sprintf("it has %v", names))
}
