package wave

import (
	"context"
	"errors"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// GlanceRequest asks what a screen shows of tasks.
type GlanceRequest struct {
	Only []string `json:"only,omitempty"` // their names; none for the newest, and all that are at work
}

// Glance is what a screen shows of tasks: the newest ones and all that are at work, or those that were named.
type Glance struct {
	Tasks []Sum `json:"tasks"`
	More  bool  `json:"more,omitempty"` // there are others
	// Gone are the names that no task has any more.
	Gone []string `json:"gone,omitempty"`
}

// mostGlanced is how many tasks a glance has that are not at work, and mostAtWork how many that are.
const (
	mostGlanced = 100
	mostAtWork  = 1000
)

// Glance returns what a screen shows of tasks.
func (w *Waves) Glance(ctx context.Context, a Author, r GlanceRequest) (Glance, error) {
	var g Glance
	tasks, err := w.glanced(ctx, a, r, &g)
	if err != nil {
		return g, err
	}
	g.Tasks = make([]Sum, 0, len(tasks))
	for _, t := range tasks {
		nodes, err := w.cfg.Store.Nodes(ctx, t.Name)
		if err != nil {
			return g, err
		}
		execs, err := w.executions(ctx, t.Name)
		if err != nil {
			return g, err
		}
		g.Tasks = append(g.Tasks, SumOf(t, nodes, execs, w.cfg.Now()))
	}
	return g, nil
}

// glanced returns the tasks of a glance.
func (w *Waves) glanced(ctx context.Context, a Author, r GlanceRequest, g *Glance) ([]plan.Task, error) {
	var tasks []plan.Task
	for _, name := range r.Only[:min(len(r.Only), mostGlanced)] {
		t, err := w.find(ctx, a, name)
		switch {
		case errors.Is(err, thread.ErrNotFound):
			g.Gone = append(g.Gone, name)
		case err != nil:
			return nil, err
		default:
			tasks = append(tasks, t)
		}
	}
	if len(r.Only) > 0 {
		return tasks, nil
	}
	q := plan.TaskQuery{Limit: mostGlanced}
	if a.Agent && !a.Reads {
		if a.Thread == "" {
			return nil, nil
		}
		q.By = a.Thread
	}
	tasks, err := w.cfg.Store.Tasks(ctx, q)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(tasks))
	for _, t := range tasks {
		known[t.Name] = true
	}
	g.More = len(tasks) == mostGlanced
	q.Statuses, q.Limit = []plan.Status{plan.InProgress}, mostAtWork
	open, err := w.cfg.Store.Tasks(ctx, q)
	for _, t := range open {
		if !known[t.Name] {
			tasks = append(tasks, t)
		}
	}
	return tasks, err
}

// Asked returns what tasks ask a person.
func (g Glance) Asked() []thread.NodeQuestion {
	var all []thread.NodeQuestion
	for _, s := range g.Tasks {
		if s.Task.Status == plan.InProgress {
			all = append(all, s.Open...)
		}
	}
	return all
}
