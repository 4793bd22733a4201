package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// runRest archives the threads of runs that have ended long ago. Later, retention deletes them as it does other archived
// ones. What is not merged and can be lost keeps its thread.
type runRest struct {
	limit   time.Duration // 0 for never
	clock   *clock
	list    func(context.Context) ([]thread.Status, error)
	archive func(context.Context, thread.ID) error
}

// look archives those that are due. A clock that jumped makes nothing old.
func (k *runRest) look(ctx context.Context) error {
	if k.limit <= 0 {
		return nil
	}
	list, err := k.list(ctx)
	if err != nil {
		return err
	}
	all := make([]checkpoint.Candidate, 0, len(list))
	for i := range list {
		s := &list[i]
		busy := s.Execution != nil || s.Queued > 0 || s.Run != nil && !work.State(s.Run.State).Final() || s.Merging != ""
		all = append(all, checkpoint.Candidate{Thread: s.Thread, Running: busy || unmerged(s.Thread)})
	}
	var errs []error
	for _, t := range checkpoint.FinishedRuns(k.limit, k.clock.since, all) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := k.archive(ctx, t.ID); err != nil && !errors.Is(err, thread.ErrNotFound) {
			errs = append(errs, fmt.Errorf("archive %s: %w", t.Name, err))
		}
	}
	return errors.Join(errs...)
}
