package wave

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/plan"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// Waves is the use cases of plans at work.
type Waves struct {
	cfg     Config
	engine  *Engine
	reading *reading
}

// New returns the use cases. Nothing is at work before Run.
func New(c Config) *Waves {
	c = c.filled()
	return &Waves{cfg: c, engine: newEngine(c), reading: &reading{cfg: c, refused: map[thread.ID]int{}}}
}

// Work goes on with the tasks of this server, until ctx ends. Then it waits for the steps that have begun.
func (w *Waves) Work(ctx context.Context) error {
	defer w.engine.close()
	return w.engine.run(ctx)
}

// Heard takes that an execution of a plan has another state. It does not block.
func (w *Waves) Heard(x work.Execution) {
	if x.Part.Task != "" {
		w.engine.heard(x)
	}
}

// Found is how often a sweep has found something to do that nobody had been woken for.
func (w *Waves) Found() int64 { return w.engine.found.Load() }

// Run starts a plan on a new task, or on one that waits. When it returns that is stored, and its first agents begin.
func (w *Waves) Run(ctx context.Context, a Author, r RunRequest) (View, error) {
	t, nodes, err := w.newTask(ctx, a, r)
	if err != nil {
		return View{}, fmt.Errorf("run the plan: %w", err)
	}
	begin := func(s *plan.Task) error {
		if err := sees(a, *s); err != nil {
			return err
		}
		if !own(a, *s) {
			return thread.Kindf(thread.ErrNotGranted, "%s is another's", s.Name)
		}
		if s.Status != plan.Pending && s.Status != plan.Proposed {
			return thread.Kindf(thread.ErrRefused, "%s is %s already", s.Name, s.Status)
		}
		begun(s, t)
		return nil
	}
	if r.Task == "" {
		t, err = w.cfg.Store.AddTask(ctx, t, nodes)
	} else {
		t, err = w.cfg.Store.BeginTask(ctx, r.Task, begin, nodes)
	}
	if err != nil {
		return View{}, fmt.Errorf("run the plan: %w", err)
	}
	w.Took(ctx, t, nodes)
	return ViewOf(t, nodes, nil, w.cfg.Now()), nil
}

// Took has a task go on that was just stored as at work, with its nodes.
func (w *Waves) Took(ctx context.Context, t plan.Task, nodes []plan.Node) {
	for i := range nodes {
		nodes[i].Task, nodes[i].Fence = t.Name, max(nodes[i].Fence, 1) // as the store has it
	}
	failpoint.Hit("wave.added")
	if err := w.cfg.limit(ctx, t); err != nil { // nothing begins before it is set
		w.cfg.Log.Warn("set the budget of a task", "task", t.Name, "err", err)
		w.engine.later(t.Name, w.engine.look)
	} else {
		w.engine.adds(t, nodes)
	}
	w.cfg.Changed(t.Name)
}

// newTask makes the task and the nodes of a request.
func (w *Waves) newTask(ctx context.Context, a Author, r RunRequest) (plan.Task, []plan.Node, error) {
	var t plan.Task
	given, err := varsOf(r.Vars)
	if err != nil {
		return t, nil, err
	}
	vars := given
	if r.Task != "" && len(vars) == 0 {
		waits, err := w.cfg.Store.Task(ctx, r.Task)
		if err != nil {
			return t, nil, err
		}
		vars = waits.Vars
	}
	if err := w.cfg.fits(CheckRequest{Plan: r.Plan, Vars: vars, MaxParallel: r.MaxParallel}, r.Agreed); err != nil {
		return t, nil, err
	}
	nodes, err := plan.Layout(r.Plan)
	if err != nil {
		return t, nil, err
	}
	hash, err := plan.Hash(r.Plan)
	if err != nil {
		return t, nil, err
	}
	if _, err := budgetOf(r.Plan.Budget); err != nil {
		return t, nil, err
	}
	if r.Session != "" {
		if _, err := w.cfg.Record.Session(ctx, r.Session); err != nil {
			return t, nil, err
		}
	}
	now := w.cfg.Now()
	t = plan.Task{
		Title: secret.Redact(strings.TrimSpace(r.Title)), Body: secret.Redact(r.Body), Status: plan.InProgress, PlanName: r.Plan.Name, Plan: &r.Plan, Hash: hash,
		Vars: given, Session: r.Session, By: a.Thread, Dir: r.Dir, MaxParallel: r.MaxParallel, OnUpstreamFailure: r.OnUpstreamFailure,
		Server: w.cfg.Server, Fence: 1, Created: now, Updated: now, Started: now, Host: w.cfg.Host, User: w.cfg.User,
	}
	if t.Title == "" && r.Task == "" {
		t.Title = r.Plan.Name
	}
	return t, nodes, nil
}

// begun puts a plan at work on a task that waited.
func begun(s *plan.Task, t plan.Task) {
	s.Status, s.PlanName, s.Plan, s.Hash = plan.InProgress, t.PlanName, t.Plan, t.Hash
	s.Server, s.Started, s.Dir = t.Server, t.Started, t.Dir
	s.MaxParallel, s.OnUpstreamFailure = t.MaxParallel, t.OnUpstreamFailure
	if len(t.Vars) > 0 {
		s.Vars = t.Vars
	}
	if t.Title != "" {
		s.Title = t.Title
	}
	if t.Body != "" {
		s.Body = t.Body
	}
	if t.Session != "" {
		s.Session = t.Session
	}
}

// find returns a task that the author sees.
func (w *Waves) find(ctx context.Context, a Author, ref string) (plan.Task, error) {
	return seenTask(ctx, w.cfg.Store, a, ref)
}

// Status returns a task with its nodes, and with what was handed over if that is asked for.
func (w *Waves) Status(ctx context.Context, a Author, r TaskRef) (View, error) {
	t, err := w.find(ctx, a, r.Task)
	if err != nil {
		return View{}, err
	}
	nodes, err := w.cfg.Store.Nodes(ctx, t.Name)
	if err != nil {
		return View{}, err
	}
	execs, err := w.executions(ctx, t.Name)
	if err != nil {
		return View{}, err
	}
	v := ViewOf(t, nodes, execs, w.cfg.Now())
	err = w.handedOver(ctx, &v, r)
	if r.Agent != "" {
		v.Nodes = slices.DeleteFunc(v.Nodes, func(n NodeView) bool { return n.Agent != r.Agent })
		if len(v.Nodes) == 0 {
			return v, fmt.Errorf("%s has no agent %q: %w", t.Name, thread.Excerpt(r.Agent), thread.ErrNotFound)
		}
	}
	return v, err
}

// executions returns those of a task, of all rounds of all its agents.
func (w *Waves) executions(ctx context.Context, task string) ([]work.Execution, error) {
	const page = 1000
	var all []work.Execution
	q := work.RecordQuery{Part: thread.Part{Task: task}, Limit: page}
	for {
		some, err := w.cfg.Record.Recorded(ctx, q)
		if err != nil {
			return all, err
		}
		if all = append(all, some...); len(some) < page {
			return all, nil
		}
		q.Before = some[len(some)-1].ID
	}
}

// handedOver adds what was handed over: the summaries, and with Data all of it.
func (w *Waves) handedOver(ctx context.Context, v *View, r TaskRef) error {
	q := plan.HandOverQuery{Task: v.Task.Name, Agent: r.Agent, Current: true, Whole: 1, Limit: 1000}
	if r.Data {
		q.Whole = 0
	}
	list, err := w.cfg.Store.HandOvers(ctx, q)
	if err != nil {
		return err
	}
	by := make(map[string]plan.HandOver, len(list))
	for _, h := range list {
		by[h.Agent] = h
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if h, ok := by[n.Agent]; ok {
			n.Summary, n.Files = h.Summary, h.Files
			if r.Data {
				n.Data = h.Data
			}
		}
	}
	return nil
}

// List returns tasks, newest first: an agent's own, unless it may read those of others.
func (w *Waves) List(ctx context.Context, a Author, q plan.TaskQuery) ([]Sum, error) {
	if a.Agent && !a.Reads {
		if a.Thread == "" {
			return []Sum{}, nil
		}
		q.By = a.Thread
	}
	q.Documents = false
	list, err := w.cfg.Store.Tasks(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]Sum, 0, len(list))
	for _, t := range list {
		nodes, err := w.cfg.Store.Nodes(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, SumOf(t, nodes, nil, w.cfg.Now()))
	}
	return out, nil
}
