package workfile

import (
	"context"
	"fmt"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// withPlans reports whether tasks of plans are written.
func (w *writer) withPlans() bool { return w.Plans != nil && w.Thread == "" }

// allTasks writes the tasks of plans, newest first.
func (w *writer) allTasks(ctx context.Context) error {
	for q := (plan.TaskQuery{Limit: page}); w.withPlans(); {
		list, err := w.Plans.Tasks(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range list {
			if err := w.task(ctx, t.Name); err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
		}
		if len(list) < page {
			return nil
		}
		q.Before = list[len(list)-1].Name
	}
	return nil
}

// task writes a task with its agents and its history.
func (w *writer) task(ctx context.Context, name string) error {
	t, err := w.Plans.Task(ctx, name)
	if err != nil {
		if w.lost(err) {
			return nil
		}
		return err
	}
	of := plan.Whole{Task: &t}
	if of.Nodes, err = w.Plans.Nodes(ctx, name); err != nil && !w.lost(err) {
		return err
	}
	for after, total := int64(0), 0; ; {
		some, err := w.Plans.Events(ctx, name, after, events)
		if err != nil && !w.lost(err) {
			return err
		}
		for i, e := range some {
			if total += len(e.Text); total > maxText {
				some[i].Text = thread.Excerpt(e.Text)
				w.cut++
			}
		}
		of.Events = append(of.Events, some...)
		if len(some) < events {
			break
		}
		after = some[len(some)-1].Seq
	}
	w.done.Tasks++
	return w.planLine(lineTask, of)
}

// allHanded writes what agents of plans have handed over, newest first.
func (w *writer) allHanded(ctx context.Context) error {
	const some = 20 // with all of their data
	for q := (plan.HandOverQuery{Limit: some}); w.withPlans(); {
		list, err := w.Plans.HandOvers(ctx, q)
		if err != nil {
			return err
		}
		for _, h := range list {
			if h.Created.IsZero() { // it stands for one that cannot be read
				w.broken++
				continue
			}
			w.done.Handed++
			if err := w.planLine(lineHanded, plan.Whole{Handed: &h}); err != nil {
				return fmt.Errorf("%s of %s: %w", h.Agent, h.Task, err)
			}
		}
		if len(list) < some {
			return nil
		}
		q.Before = list[len(list)-1].ID
	}
	return nil
}

// allArmed writes the plans that were armed.
func (w *writer) allArmed(ctx context.Context) error {
	if !w.withPlans() {
		return nil
	}
	list, err := w.Plans.Armed(ctx)
	for _, a := range list {
		if err := w.planLine(lineArmed, plan.Whole{Armed: &a}); err != nil {
			return fmt.Errorf("plan %s: %w", a.Name, err)
		}
	}
	return err
}

// planLine writes a row of a plan. One that is too large for a line is written without its history, or else it is left out.
func (w *writer) planLine(kind byte, of plan.Whole) error {
	if !w.Secrets {
		of.Redact()
	}
	for n := range 2 {
		line, err := encode(kind, of)
		if err == nil && len(line) <= maxLine && bounded(line[sumSize+3:]) == nil {
			_, err = w.to.Write(line)
			return err
		}
		if n == 0 {
			w.large++
			of.Events = nil
		}
	}
	return nil
}
