package workfile

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/plan"
)

// plans stores rows of plans, oldest first. An archive of a thread has none that count: they are nobody's here.
func (r *reader) plans(ctx context.Context, all []place) error {
	if r.Plans == nil || r.As.Thread != "" {
		return nil
	}
	for _, at := range slices.Backward(all) {
		err := r.plan(ctx, at)
		if errors.Is(err, thread.ErrInvalid) || errors.Is(err, thread.ErrNotFound) {
			r.lost++
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plan stores one row.
func (r *reader) plan(ctx context.Context, at place) error {
	b := make([]byte, at.size)
	if _, err := r.file.ReadAt(b, at.at); err != nil {
		return err
	}
	if err := bounded(b); err != nil {
		return err
	}
	var w plan.Whole
	if err := json.Unmarshal(b, &w); err != nil {
		return thread.Kindf(thread.ErrInvalid, "a line is no JSON")
	}
	if err := w.Check(); err != nil {
		return err
	}
	w.Settle(r.Now)
	if h := w.Handed; h != nil {
		if h.Task = r.tasks[h.Task]; h.Task == "" {
			return thread.Kindf(thread.ErrInvalid, "a deliverable of no task")
		}
	}
	name, free, err := r.Plans.Load(ctx, w)
	switch {
	case err != nil:
		return err
	case w.Task == nil:
		return nil
	case free:
		r.done.Tasks++
	default:
		r.done.Existing++
	}
	if name != w.Task.Name {
		r.renamed = append(r.renamed, w.Task.Name+" \u2192 "+name)
	}
	r.tasks[w.Task.Name] = name
	return nil
}
