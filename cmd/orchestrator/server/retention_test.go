package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint"
	inmemory "orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

// kept is a project for retention: a clock that is set and runs, threads, and what went.
type kept struct {
	t       *testing.T
	keeper  *retention
	wall    time.Time
	threads []thread.Thread
	gone    []string
}

func newKept(t *testing.T, p checkpoint.Policy) *kept {
	t.Helper()
	k := &kept{t: t, wall: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	store := inmemory.New()
	clock, err := openClock(t.Context(), store, func() time.Time { return k.wall })
	if err != nil {
		t.Fatal(err)
	}
	k.keeper = &retention{settings: store, clock: clock, policy: p}
	k.keeper.collect = func(_ context.Context, r thread.CollectRequest) (done thread.Collected, err error) {
		var all []checkpoint.Candidate
		for _, t := range k.threads {
			all = append(all, checkpoint.Candidate{Thread: t})
		}
		for _, d := range k.keeper.policy.Select(clock.since, all) {
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
		k.wall = k.wall.Add(6 * time.Hour)
		k.look()
	}
}

func (k *kept) look() {
	k.t.Helper()
	if err := errors.Join(k.keeper.clock.check(k.t.Context()), k.keeper.look(k.t.Context())); err != nil {
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
	k.says("the clock jumped from 2026-01-11 to 2027-01-21", "run `orchestrator gc` twice")
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

// TestClock: what jumped ahead is not believed, over a restart either, until it is set back or accepted when asked about.
func TestClock(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		stored string
		ahead  time.Duration
		then   func(c *clock, wall *time.Time)
		want   time.Duration // since begin
		doubt  bool
	}{
		"nothing":            {want: 0},
		"a look":             {ahead: 5 * time.Minute, want: 5 * time.Minute},
		"two weeks unused":   {ahead: 14 * day, want: 14 * day},
		"more":               {ahead: 14*day + 1, doubt: true},
		"set back":           {ahead: 365 * day, then: func(_ *clock, wall *time.Time) { *wall = begin.Add(day) }, want: day},
		"far back":           {ahead: -365 * day, want: -365 * day},
		"asked":              {ahead: 365 * day, then: func(c *clock, _ *time.Time) { c.accept() }, doubt: true},
		"accepted":           {ahead: 365 * day, then: func(c *clock, _ *time.Time) { c.accept(); c.accept() }, want: 365 * day},
		"asked of no doubt":  {ahead: day, then: func(c *clock, wall *time.Time) { c.accept(); *wall = begin.Add(365 * day); c.accept() }, want: day, doubt: true},
		"not ours":           {stored: "[1", ahead: 0},
		"of an older build":  {stored: `{"wall":"2025-12-31T00:00:00Z","up":5,"boot":"b"}`, want: 0},
		"with a skip of one": {stored: `{"wall":"2026-01-01T00:00:00Z","up":5,"boot":"b","skips":[{"lost":31536000000000000}]}`, want: -365 * day, doubt: true},
	} {
		t.Run(name, func(t *testing.T) {
			store, wall := inmemory.New(), begin
			if tc.stored != "" {
				if err := store.SetSetting(t.Context(), clockSetting, tc.stored); err != nil {
					t.Fatal(err)
				}
			}
			open := func() *clock {
				c, err := openClock(t.Context(), store, func() time.Time { return wall })
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			c := open()
			wall = wall.Add(tc.ahead)
			if tc.then != nil {
				tc.then(c, &wall)
			}
			for range 2 { // the second is another process
				if err := c.check(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := c.time().Sub(begin); got != tc.want || (c.doubt() != "") != tc.doubt {
					t.Errorf("%v, %q; want %v, %v", got, c.doubt(), tc.want, tc.doubt)
				}
				c = open()
			}
		})
	}
}

// TestAgeAfterAJump: what was stored after a jump gets older all the same, what was before does not, and an acceptance is
// told once, so that what it makes old is announced before it goes.
func TestAgeAfterAJump(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	wall := begin
	c, err := openClock(t.Context(), inmemory.New(), func() time.Time { return wall })
	if err != nil {
		t.Fatal(err)
	}
	wall = begin.Add(20 * day)
	staged := wall
	wall = wall.Add(2 * time.Hour)
	if got := c.since(staged); got != 2*time.Hour {
		t.Errorf("stored after the jump: %v", got)
	}
	if got := c.since(begin.Add(-day)); got != day {
		t.Errorf("stored before it: %v", got)
	}
	if c.accept() || c.acceptedSince(begin) {
		t.Error("believed before it was asked about")
	}
	if !c.accept() || !c.acceptedSince(begin) || c.acceptedSince(wall.Add(1)) || c.accept() {
		t.Error("not believed when accepted, or twice")
	}
}
