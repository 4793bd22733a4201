package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
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
	worktree, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	asked, away := 0, error(nil) // of git
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
		run("branch", func(s *thread.Status) { s.Worktree.Path, s.Worktree.Branch = gone, "work" }),
		run("branch-merged", func(s *thread.Status) { s.Worktree.Path, s.Worktree.Branch = gone, "other" }),
		run("branch-abandoned", func(s *thread.Status) {
			s.Worktree.Path, s.Worktree.Branch, s.Outcome.Kind = gone, "work", thread.OutcomeAbandoned
		}),
	}
	var archived []string
	bad := errors.New("bad")
	k := &runRest{limit: 30 * 24 * time.Hour, clock: clock,
		list: func(context.Context) ([]thread.Status, error) { return list, nil },
		archive: func(_ context.Context, id thread.ID) error {
			if id == "bad" {
				return bad
			}
			archived = append(archived, string(id))
			return nil
		},
		unmerged: unmergedWork{log: slog.New(slog.DiscardHandler), branches: func(context.Context) (map[string]bool, error) {
			asked++
			return map[string]bool{"work": true}, away
		}},
	}
	look := func(limit time.Duration, want error) {
		t.Helper()
		archived, k.limit = nil, limit
		if err := k.look(t.Context()); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	look(30*24*time.Hour, nil)
	if len(archived) > 0 {
		t.Errorf("archived at once: %q", archived)
	}
	for range 31 * 4 {
		wall = wall.Add(6 * time.Hour)
		if err := clock.check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	look(0, nil)
	if len(archived) > 0 {
		t.Errorf("archived without a limit: %q", archived)
	}
	look(30*24*time.Hour, bad)
	if slices.Sort(archived); !slices.Equal(archived, []string{"branch-abandoned", "branch-merged", "ended", "merged", "old"}) {
		t.Errorf("archived: %q", archived)
	}
	if news := strings.Join(k.news(), ""); asked != 1 || !strings.Contains(news, "2 finished runs") || !strings.Contains(news, ": unmerged, branch.") {
		t.Errorf("it asked git %d times, and says %q", asked, news)
	}
	away = errors.New("git is away")
	look(30*24*time.Hour, bad)
	if slices.Contains(archived, "branch") || slices.Contains(archived, "branch-merged") {
		t.Errorf("archived while nobody knows what is merged: %q", archived)
	}
	list, away = nil, nil
	if look(30*24*time.Hour, nil); len(k.news()) > 0 {
		t.Errorf("it says %q", k.news())
	}
}
