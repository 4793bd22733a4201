package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint"
	inmemory "orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/checkpoint/elapsed"
	"orchestrator/thread"
)

// kept is a project for retention: a clock that is set and runs, threads, and what went.
type kept struct {
	t       *testing.T
	keeper  *retention
	wall    time.Time
	up      time.Duration
	threads []thread.Thread
	gone    []string
}

func newKept(t *testing.T, p checkpoint.Policy) *kept {
	t.Helper()
	k := &kept{t: t, wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	store := inmemory.New()
	clock, err := elapsed.Open(t.Context(), store, func() time.Time { return k.wall }, func() (time.Duration, string) { return k.up, "boot" })
	if err != nil {
		t.Fatal(err)
	}
	k.keeper = &retention{settings: store, since: clock.Since, now: func() time.Time { return k.wall }, policy: p}
	k.keeper.collect = func(_ context.Context, r thread.CollectRequest) (done thread.Collected, err error) {
		var all []checkpoint.Candidate
		for _, t := range k.threads {
			all = append(all, checkpoint.Candidate{Thread: t})
		}
		for _, d := range k.keeper.policy.Select(clock.Since, all) {
			done.Threads = append(done.Threads, thread.Dropped{Name: d.Name, Why: d.Why})
			if !r.DryRun {
				k.gone = append(k.gone, d.Name)
				k.threads = slices.DeleteFunc(k.threads, func(t thread.Thread) bool { return t.ID == d.ID })
			}
		}
		return done, nil
	}
	return k
}

// days lets time pass, a look every few hours.
func (k *kept) days(n int) {
	for range n * 4 {
		k.wall, k.up = k.wall.Add(6*time.Hour), k.up+6*time.Hour
		k.look()
	}
}

func (k *kept) look() {
	k.t.Helper()
	if err := k.keeper.look(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kept) archived(name string) {
	k.threads = append(k.threads, thread.Thread{ID: thread.NewID[thread.ID](), Name: name, Created: k.wall, Updated: k.wall, Archived: k.wall})
}

func (k *kept) says(words ...string) {
	k.t.Helper()
	text := strings.Join(k.keeper.news(), "\n")
	for _, w := range words {
		if !strings.Contains(text, w) {
			k.t.Errorf("it says %q, without %q", text, w)
		}
	}
	if len(words) == 0 && text != "" {
		k.t.Errorf("it says %q", text)
	}
}

const day = 24 * time.Hour

// TestRetentionAnnounces: an upgrade names what is old for a week before any of it goes.
func TestRetentionAnnounces(t *testing.T) {
	k := newKept(t, checkpoint.Policy{})
	k.archived("old")
	k.days(200)
	k.says()
	k.keeper.policy = checkpoint.Policy{Archived: 90 * day, Deleted: 7 * day} // the upgrade
	k.look()
	k.says("old", "will be deleted for good in 7 days", "gc --dry-run")
	k.days(6)
	if len(k.gone) > 0 {
		t.Fatalf("%v went before the week was over", k.gone)
	}
	k.says("will be deleted")
	k.days(2)
	if len(k.gone) != 1 || k.gone[0] != "old" {
		t.Fatalf("gone are %v", k.gone)
	}
	k.says("1 thread(s) past the retention limits were deleted for good", "old")
	k.days(9)
	k.says()

	k.archived("next")
	k.keeper.policy.Archived = day // stricter: said first, too
	k.days(2)
	k.keeper.policy.Archived = 2 * day
	k.look()
	k.days(6)
	if len(k.gone) != 1 {
		t.Errorf("%v went without a week's notice of new settings", k.gone)
	}
	k.days(2)
	if len(k.gone) != 2 {
		t.Errorf("gone are %v", k.gone)
	}
}

// TestRetentionAndClocks: a clock that is a year ahead for a while deletes nothing.
func TestRetentionAndClocks(t *testing.T) {
	k := newKept(t, checkpoint.Policy{Archived: 90 * day, Deleted: 7 * day})
	k.look()
	k.archived("young")
	k.days(10)
	k.wall = k.wall.Add(365 * day)
	k.days(10)
	if len(k.gone) > 0 {
		t.Errorf("a clock that is ahead deleted %v", k.gone)
	}
	k.wall = k.wall.Add(-365 * day)
	k.days(60)
	if len(k.gone) > 0 {
		t.Errorf("a clock that was set back deleted %v", k.gone)
	}
	k.days(12)
	if len(k.gone) != 1 {
		t.Errorf("after 92 days gone are %v", k.gone)
	}
}
