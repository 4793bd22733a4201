package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/elapsed"
	"orchestrator/checkpoint/snapshot"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/manager"
)

// collector lets go of what the person's policy need not keep.
type collector struct {
	manager *manager.Manager
	store   *openStore
	files   *snapshot.Store // nil without a repository
	policy  checkpoint.Policy
	clock   *elapsed.Clock
	// careful leaves archived threads whose work is neither merged nor given up and still has its worktree.
	careful bool
}

// policyOf is the configured retention.
func policyOf(c Config) checkpoint.Policy {
	return checkpoint.Policy{
		Deleted: time.Duration(c.KeepDeleted) * 24 * time.Hour, Archived: time.Duration(c.KeepDays) * 24 * time.Hour, Count: c.KeepThreads, Bytes: int64(c.KeepMB) << 20,
	}
}

// Collect says what goes and why and, unless it is only asked, lets it go. Uncommitted files of a
// worktree are kept in git; what was moved to the trash a deleted thread's time ago is emptied. A clock that was set
// makes nothing old.
func (c collector) Collect(ctx context.Context, r thread.CollectRequest) (thread.Collected, error) {
	var done thread.Collected
	threads, err := c.store.Threads(ctx)
	if err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	sizes, err := c.store.ThreadSizes(ctx)
	if err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	var all []checkpoint.Candidate
	for _, t := range threads {
		s, err := c.manager.Status(ctx, string(t.ID))
		running := err == nil && s.Execution != nil || c.careful && t.Deleted.IsZero() && unmerged(t)
		all = append(all, checkpoint.Candidate{Thread: t, Bytes: sizes[t.ID], Running: running})
	}
	if err := c.clock.Look(ctx); err != nil {
		return done, fmt.Errorf("collect: %w", err)
	}
	for _, s := range c.clock.Skips() {
		done.Notes = append(done.Notes, fmt.Sprintf("the clock went from %s to %s without the time to show for it: %d days of that do not count for what is older",
			s.From.Local().Format(time.DateOnly), s.To.Local().Format(time.DateOnly), int(s.Lost.Hours()/24)))
	}
	doomed := c.policy.Select(c.clock.Since, all)
	if !r.DryRun {
		doomed, err = checkpoint.Collect(ctx, c.store, doomed, c.manager.Discard)
		if c.files != nil && c.policy.Deleted > 0 {
			freed, trashErr := c.files.EmptyTrash(c.clock.Before(c.policy.Deleted))
			done.Freed, err = done.Freed+freed, errors.Join(err, trashErr)
		}
		err = errors.Join(err, c.store.Compact(ctx))
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

// unmerged reports whether a thread has a worktree with work that nobody decided about.
func unmerged(t thread.Thread) bool {
	return t.Worktree.Path != "" && t.Outcome.Kind == thread.OutcomeNone && isFolder(t.Worktree.Path)
}

// lookPause is how often a server compares the clocks.
const lookPause = 5 * time.Minute

// openClock begins to watch the clock by which the age of things counts.
func (a *App) openClock(ctx context.Context) error {
	clock, err := elapsed.Open(ctx, a.store, time.Now, elapsed.Machine)
	if clock == nil {
		return err
	}
	a.clock = clock
	if err != nil {
		a.Log.Warn("look at the clock", "error", err) // a full disk, for one: it is looked at again
	}
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := clock.Look(ctx); err != nil {
			a.Log.Warn("look at the clock", "error", err)
		}
		return nil
	})
	a.service(func(ctx context.Context) error {
		pause := time.NewTicker(lookPause)
		defer pause.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-a.stop:
				return nil
			case <-pause.C:
			}
			if err := clock.Look(ctx); err != nil {
				a.Log.Warn("look at the clock", "error", err)
			}
		}
	})
	return nil
}

func (c *cli) gcVerb() *cobra.Command {
	var r thread.CollectRequest
	cmd := &cobra.Command{
		Use: "gc", Short: "Delete for good what was deleted, and archived threads that the retention settings need not keep", Args: exactly(),
	}
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only say what would go")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		done, err := api.Collect.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.show(done, func(w io.Writer) {
			for _, g := range done.Threads {
				fmt.Fprintf(w, "%s  %s  %s\n", g.Name, thread.Bytes(g.Bytes), g.Why)
			}
			for _, note := range done.Notes {
				fmt.Fprintln(w, note)
			}
			word := "freed"
			if r.DryRun {
				word = "would free"
			}
			fmt.Fprintf(w, "%d thread(s), %s %s\n", len(done.Threads), word, thread.Bytes(done.Freed))
		})
	})
	return cmd
}
