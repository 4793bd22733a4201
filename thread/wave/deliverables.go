package wave

import (
	"context"
	"fmt"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// previewed is how many bytes of the data a list has of each version.
const previewed = 400

// Get returns a version of what an agent handed over. The run of a plan's agent gets of what it reads the version that it was
// given, unless it names another.
func (w *Waves) Get(ctx context.Context, a Author, r GetRequest) (plan.HandOver, error) {
	part, in, err := w.reading.part(ctx, a.Thread)
	if err != nil {
		return plan.HandOver{}, err
	}
	task, err := w.taskOf(ctx, a, r.Task, part)
	if err != nil {
		return plan.HandOver{}, err
	}
	if err := w.reading.may(ctx, a, task, r.Agent); err != nil {
		return plan.HandOver{}, err
	}
	if a.Agent && in && r.Version == 0 && r.Agent != part.Agent {
		n, err := w.cfg.Store.Node(ctx, part.Task, part.Agent)
		if err != nil {
			return plan.HandOver{}, err
		}
		r.Version = n.Given[r.Agent]
	}
	h, err := w.cfg.Store.HandOver(ctx, task, r.Agent, r.Version)
	if err != nil {
		return h, thread.Hint(err, "`orchestrator deliverable list "+task+"` lists what was handed over")
	}
	return h, nil
}

// taskOf returns the name of the task that is meant: for the run of a plan's agent its own, if none is named.
func (w *Waves) taskOf(ctx context.Context, a Author, ref string, part thread.Part) (string, error) {
	if ref == "" {
		if !a.Agent || part.Task == "" {
			return "", thread.Kindf(thread.ErrInvalid, "name the task, such as task-001")
		}
		return part.Task, nil
	}
	if a.Agent && part.Task != "" {
		return ref, nil // another than its own is refused, whether there is one or not
	}
	t, err := w.cfg.Store.Task(ctx, ref)
	return t.Name, err
}

// Handed lists what was handed over, newest first, with the beginning of its data: for the run of a plan's agent what it
// reads.
func (w *Waves) Handed(ctx context.Context, a Author, r HandedRequest) ([]plan.HandOver, error) {
	q := plan.HandOverQuery{Task: r.Task, Agent: r.Agent, Current: !r.All, Whole: previewed, Before: r.Before, Limit: r.Limit}
	var readable []string
	if a.Agent {
		part, in, err := w.reading.part(ctx, a.Thread)
		if err != nil {
			return nil, err
		}
		if q.Task, err = w.taskOf(ctx, a, r.Task, part); err != nil {
			return nil, err
		}
		if in {
			if q.Task != part.Task || r.Agent != "" {
				if err := w.reading.may(ctx, a, q.Task, r.Agent); err != nil {
					return nil, err
				}
			}
			if readable, err = w.reading.upstream(ctx, part); err != nil {
				return nil, err
			}
			readable = append(slices.Clone(readable), part.Agent)
		} else if err := w.reading.may(ctx, a, q.Task, r.Agent); err != nil {
			return nil, err
		}
	} else if r.Task != "" {
		t, err := w.cfg.Store.Task(ctx, r.Task)
		if err != nil {
			return nil, err
		}
		q.Task = t.Name
	}
	list, err := w.cfg.Store.HandOvers(ctx, q)
	if err != nil {
		return nil, err
	}
	if readable != nil {
		list = slices.DeleteFunc(list, func(h plan.HandOver) bool { return !slices.Contains(readable, h.Agent) })
	}
	return list, nil
}

// Opens refuses an agent a token of what was handed over that its plan does not let it read; other tokens it does not refuse.
func (w *Waves) Opens(ctx context.Context, a Author, token thread.Token) error {
	if err := w.reading.opens(ctx, a, token); err != nil {
		return fmt.Errorf("%s: %w", token, err)
	}
	return nil
}
