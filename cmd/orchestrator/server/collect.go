package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/manager"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/work"
)

// collector deletes what is past the retention limits.
type collector struct {
	manager *manager.Manager
	store   *openStore
	files   *keptFiles // nil without a repository
	policy  checkpoint.Policy
	clock   *clock
	staging *staging.Store // nil leaves staged data to its own service
	masks   *masks.Store
	record  work.Keeper // nil leaves the record of work alone
	// careful keeps archived threads with work that is neither merged nor abandoned, as unmerged tells.
	careful  bool
	unmerged unmergedWork
}

// policyOf returns the configured retention policy.
func policyOf(c config.Config) checkpoint.Policy {
	return checkpoint.Policy{
		Deleted: time.Duration(c.KeepDeleted) * 24 * time.Hour, Archived: time.Duration(c.KeepDays) * 24 * time.Hour,
		Count: c.KeepThreads, Bytes: int64(c.KeepMB) << 20, Record: time.Duration(c.KeepRecord) * 24 * time.Hour,
	}
}

// Collect reports what is past the limits and, unless it is a dry run, deletes it. Uncommitted files of a worktree are
// kept in git. Trash older than the limit for deleted threads is emptied. A clock that jumped makes nothing
// old before the user has been asked.
func (c collector) Collect(ctx context.Context, r thread.CollectRequest) (thread.Collected, error) {
	var done thread.Collected
	sizes, err := c.store.ThreadSizes(ctx)
	if err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	var all []checkpoint.Candidate
	runs := map[thread.ID]bool{}
	for _, id := range c.manager.Threads.Running() {
		runs[id] = true
	}
	unmerged := c.unmerged.look(ctx)
	err = thread.EachThread(ctx, c.store, thread.Query{}, func(t thread.Thread) error {
		running := runs[t.ID] || c.careful && t.Deleted.IsZero() && unmerged(t)
		all = append(all, checkpoint.Candidate{Thread: checkpoint.Aged(t), Bytes: sizes[t.ID], Running: running})
		return nil
	})
	if err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	if err := c.clock.check(ctx); err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	if !c.careful && !r.DryRun && c.clock.accept() {
		r.DryRun = true
		done.Notes = append(done.Notes, "the date is accepted now; nothing was deleted: the next `orchestrator gc` does that")
	}
	if doubt := c.clock.doubt(); doubt != "" {
		done.Notes = append(done.Notes, doubt)
	}
	doomed := c.policy.Select(c.clock.since, all)
	if !r.DryRun {
		doomed, err = checkpoint.Collect(ctx, c.store, doomed, c.manager.Lifecycle.Discard)
		if c.files != nil && c.policy.Deleted > 0 {
			freed, trashErr := c.files.EmptyTrash(c.clock.time().Add(-c.policy.Deleted))
			done.Freed, err = done.Freed+freed, errors.Join(err, trashErr)
		}
		if c.staging != nil {
			swept, sweepErr := c.staging.Sweep(ctx)
			done.Freed, err = done.Freed+swept.Bytes, errors.Join(err, sweepErr)
		}
		_, swept, sweepErr := c.masks.Sweep(c.store.mayExist(ctx))
		done.Freed, err = done.Freed+swept, errors.Join(err, sweepErr, c.store.Compact(ctx))
	}
	expired, expireErr := c.expire(ctx, r.DryRun)
	done.Recorded, done.Freed = expired.Executions+expired.Sessions+expired.Bundles+expired.Tasks, done.Freed+expired.Bytes
	err = errors.Join(err, expireErr)
	if done.Recorded > 0 {
		note := fmt.Sprintf("of the record of work, ended more than %d days ago: %s, %s, %s",
			int(c.policy.Record.Hours()/24), plaintext.Count(expired.Executions, "execution"),
			plaintext.Count(expired.Sessions, "work session"), plaintext.Count(expired.Bundles, "bundle"))
		if expired.Tasks > 0 {
			note += ", " + plaintext.Count(expired.Tasks, "task") + " of plans"
		}
		done.Notes = append(done.Notes, note)
	}
	if c.staging != nil {
		kept, keptErr := c.keptData()
		done.Notes, err = append(done.Notes, kept...), errors.Join(err, keptErr)
	}
	for _, d := range doomed {
		done.Threads = append(done.Threads, thread.Dropped{Name: d.Name, Bytes: d.Bytes, Why: d.Why})
		done.Freed += d.Bytes
	}
	if err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	return done, nil
}

// expire removes what is past the limit of the record of work, or counts it. A record that is away or damaged keeps
// nothing else from being collected.
func (c collector) expire(ctx context.Context, dry bool) (work.Expired, error) {
	if c.record == nil || c.policy.Record <= 0 {
		return work.Expired{}, nil
	}
	done, err := c.record.Expire(ctx, c.clock.time().Add(-c.policy.Record), dry)
	if unreadable(err) {
		err = nil
	}
	return done, err
}

// maxKept is how many entries of staged data are named that something keeps from expiring.
const maxKept = 20

// keptData returns which staged data does not expire, and why.
func (c collector) keptData() ([]string, error) {
	list, err := c.staging.List(func(d thread.Staged) bool { return true })
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(d thread.Staged) bool { return len(d.Pins) == 0 })
	var notes []string
	for _, d := range list[:min(len(list), maxKept)] {
		notes = append(notes, fmt.Sprintf("%s, %s, is kept because of %s", d.Token, thread.Bytes(d.Bytes),
			strings.Join(d.Pins, ", ")))
	}
	if more := len(list) - len(notes); more > 0 {
		notes = append(notes, fmt.Sprintf("%d more entries of staged data are kept because something names them", more))
	}
	return notes, nil
}

// mayExist returns a function that reports whether a thread may exist: what is not known to be gone does.
func (o *openStore) mayExist(ctx context.Context) func(thread.ID) bool {
	return func(id thread.ID) bool {
		_, err := o.Thread(ctx, id)
		return !errors.Is(err, thread.ErrNotFound)
	}
}

// lookPause is how often a server compares the clocks.
const lookPause = 5 * time.Minute
