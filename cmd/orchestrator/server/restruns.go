package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// runRest archives the threads of runs that have ended long ago. Later, retention deletes them as it does other archived
// ones. What is not merged keeps its thread, and is told of.
type runRest struct {
	limit    time.Duration // 0 for never
	clock    *clock
	list     func(context.Context) ([]thread.Status, error)
	archive  func(context.Context, thread.ID) error
	unmerged unmergedWork

	mu   sync.Mutex // guards kept
	kept []thread.Dropped
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
		all = append(all, checkpoint.Candidate{Thread: s.Thread, Running: busy})
	}
	unmerged, stays := k.unmerged.look(ctx), map[thread.ID]bool{}
	var kept []thread.Dropped
	for _, t := range checkpoint.FinishedRuns(k.limit, k.clock.since, all) {
		if unmerged(t) {
			stays[t.ID], kept = true, append(kept, thread.Dropped{Name: t.Name})
		}
	}
	k.mu.Lock()
	k.kept = kept
	k.mu.Unlock()
	for i := range all {
		all[i].Running = all[i].Running || stays[all[i].Thread.ID]
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

// news returns which threads stay though they ended long ago.
func (k *runRest) news() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s not archived after retention.runs_days, because of unmerged work: %s. "+
		"Merge it with `orchestrator merge`, or give it up with `orchestrator abandon`",
		plaintext.Count(len(k.kept), "finished run"), namesOf(k.kept))}
}
