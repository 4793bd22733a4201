package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	inmemory "orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// TestRunRest archives what ended long ago and is needed for nothing more; one that cannot be archived keeps no other.
func TestRunRest(t *testing.T) {
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock, err := openClock(t.Context(), inmemory.New(), func() time.Time { return wall })
	if err != nil {
		t.Fatal(err)
	}
	worktree := t.TempDir()
	begun := wall
	run := func(id thread.ID, change func(*thread.Status)) thread.Status {
		s := thread.Status{Thread: thread.Thread{ID: id, Name: string(id), Created: begun, Updated: begun, Once: thread.Once{On: true}}}
		if change != nil {
			change(&s)
		}
		return s
	}
	list := []thread.Status{
		run("ended", func(s *thread.Status) { s.Run = &thread.RunStatus{State: "completed"} }),
		run("bad", nil), run("old", nil),
		run("queued", func(s *thread.Status) { s.Queued = 1 }),
		run("waits", func(s *thread.Status) { s.Run = &thread.RunStatus{State: "queued"} }),
		run("asks", func(s *thread.Status) { s.Run = &thread.RunStatus{State: "needs_input"} }),
		run("works", func(s *thread.Status) { s.Execution = &thread.Execution{} }),
		run("merging", func(s *thread.Status) { s.Merging = "main" }),
		run("unmerged", func(s *thread.Status) { s.Worktree.Path = worktree }),
		run("merged", func(s *thread.Status) { s.Worktree.Path, s.Outcome.Kind = worktree, thread.OutcomeMerged }),
	}
	var gone []string
	bad := errors.New("bad")
	k := &runRest{limit: 30 * 24 * time.Hour, clock: clock,
		list: func(context.Context) ([]thread.Status, error) { return list, nil },
		archive: func(_ context.Context, id thread.ID) error {
			if id == "bad" {
				return bad
			}
			gone = append(gone, string(id))
			return nil
		},
	}
	look := func(limit time.Duration, want error) {
		t.Helper()
		gone, k.limit = nil, limit
		if err := k.look(t.Context()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	look(30*24*time.Hour, nil)
	if len(gone) > 0 {
		t.Errorf("archived at once: %q", gone)
	}
	for range 31 * 4 {
		wall = wall.Add(6 * time.Hour)
		if err := clock.check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look(0, nil)
	if len(gone) > 0 {
		t.Errorf("archived without a limit: %q", gone)
	}
	look(30*24*time.Hour, bad)
	if slices.Sort(gone); !slices.Equal(gone, []string{"ended", "merged", "old"}) {
		t.Errorf("archived: %q", gone)
	}
}
