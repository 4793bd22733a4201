package wave

import (
	"context"
	"time"

	"orchestrator/thread/plan"
)

// sweepEach is how often it is looked whether anything is to be done that nobody was woken for.
const sweepEach = 30 * time.Second

// run goes on with all tasks of this server, and sweeps, until ctx ends.
func (e *Engine) run(ctx context.Context) error {
	for !e.recover() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
	tick := time.NewTicker(sweepEach)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			e.sweep()
		}
	}
}

// mostRecovered is how many tasks are read at once.
const mostRecovered = 1000

// mine returns the names of the tasks that are at work on this server.
func (e *Engine) mine() (names []string, err error) {
	q := plan.TaskQuery{Statuses: []plan.Status{plan.InProgress}, Server: e.cfg.Server, Limit: mostRecovered}
	if e.cfg.Alone {
		q.Server = ""
	}
	for {
		list, err := e.cfg.Store.Tasks(e.ctx, q)
		if err != nil {
			return names, err
		}
		for _, t := range list {
			names, q.Before = append(names, t.Name), t.Name
		}
		if len(list) < q.Limit {
			return names, nil
		}
	}
}

// recover has the tasks that an earlier server left at work go on.
func (e *Engine) recover() bool {
	names, err := e.mine()
	if err != nil {
		e.cfg.Log.Warn("find the tasks that are at work", "err", err)
		return false
	}
	for _, name := range names {
		e.do(name, e.look)
	}
	open, err := e.cfg.Record.Open(e.ctx)
	if err != nil {
		e.cfg.Log.Warn("find the runs that are open", "err", err)
		return false
	}
	for _, x := range open { // a crash may have come between a cancellation and the end of its runs
		if x.Part.Task != "" {
			e.heard(x)
		}
	}
	return true
}

// adds takes over a task that was just stored.
func (e *Engine) adds(task plan.Task, nodes []plan.Node) {
	e.do(task.Name, func(t *running) {
		if t.board == nil {
			t.board = plan.NewBoard(task, nodes)
		}
		e.next(t)
	})
}

// sweep looks at all tasks that are at work as they are stored.
func (e *Engine) sweep() {
	names, err := e.mine()
	if err != nil {
		e.cfg.Log.Warn("sweep over the tasks that are at work", "err", err)
		return
	}
	for _, name := range names {
		if !e.known(name) {
			e.later(name, e.unknown)
			continue
		}
		e.do(name, e.check)
	}
}

// finds notes that a sweep has found something.
func (e *Engine) finds(task, what string) {
	e.found.Add(1)
	e.cfg.Log.Warn("a sweep found something to do", "task", task, "what", what)
}

// unknown takes over a task at work that was not in memory a moment ago, unless it is by now.
func (e *Engine) unknown(t *running) {
	if t.board != nil {
		return
	}
	if s, err := e.cfg.Store.Task(e.ctx, t.name); err == nil && s.Status == plan.InProgress {
		e.finds(t.name, "nobody has it")
		e.look(t)
	}
}

// check compares a task with its rows, and has it read again where they differ and still do after a moment: what has just
// happened is on its way.
func (e *Engine) check(t *running) {
	if e.differs(t) == "" {
		return
	}
	e.later(t.name, func(t *running) {
		if what := e.differs(t); what != "" {
			e.finds(t.name, what)
			t.board = nil
			e.look(t)
		}
	})
}

// differs says what of a task is not as its rows are, or what follows on those that nobody does; "" for nothing, and while
// something is about to be written.
func (e *Engine) differs(t *running) (what string) {
	if t.board == nil || len(t.about) > 0 || t.board.Task().Status != plan.InProgress {
		return ""
	}
	nodes, err := e.cfg.Store.Nodes(e.ctx, t.name)
	if err != nil {
		return ""
	}
	for _, n := range nodes {
		if was, known := t.board.Node(n.Agent); !known || was.State != n.State || was.Fence != n.Fence || was.Version != n.Version {
			what = n.Agent + " is stored as " + string(n.State)
		}
		if n.State == plan.NodeWorking && n.Execution != "" {
			if x, err := e.cfg.Record.Execution(e.ctx, string(n.Execution)); err == nil && x.State.Final() {
				what = n.Agent + " has ended"
			}
		}
	}
	if fresh := plan.NewBoard(t.board.Task(), nodes); what == "" && (len(fresh.Next()) > 0 || fresh.Open() == 0) {
		what = "something follows on its rows"
	}
	return what
}
