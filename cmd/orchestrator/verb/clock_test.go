package verb

import (
	"testing"
	"time"

	"orchestrator/thread"
)

// TestSpansByAWrongClock: what a clock that was ahead left in the future is neither the newest nor of a negative age.
func TestSpansByAWrongClock(t *testing.T) {
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	at := func(name string, d time.Duration) thread.Status {
		return thread.Status{Thread: thread.Thread{ID: thread.ID(name), Updated: now.Add(d)}}
	}
	const year = 365 * 24 * time.Hour
	for want, list := range map[thread.ID][]thread.Status{
		"today": {at("old", -year), at("today", -time.Minute), at("ahead", year)},
		"soon":  {at("today", -time.Minute), at("soon", time.Minute)},
		"ahead": {at("ahead", year)},
		"old":   {at("ahead", year), at("old", -year)},
		"":      nil,
	} {
		if got := newest(list, now).ID; got != want {
			t.Errorf("the newest is %q, want %q", got, want)
		}
	}
	for d, want := range map[time.Duration]string{-year: "0s", -time.Second: "0s", 0: "0s", time.Hour: "1h"} {
		if got := thread.Age(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
