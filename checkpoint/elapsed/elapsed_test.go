package elapsed_test

import (
	"testing"
	"time"

	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/checkpoint/elapsed"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// machine is one whose clock can be set.
type machine struct {
	*testing.T
	wall  time.Time
	up    time.Duration
	boot  string
	store *memory.Store
	clock *elapsed.Clock
}

func (m *machine) open() {
	m.Helper()
	var err error
	m.clock, err = elapsed.Open(m.Context(), m.store, func() time.Time { return m.wall },
		func() (time.Duration, string) { return m.up, m.boot })
	if err != nil {
		m.Fatal(err)
	}
}

// pass lets time pass, looking once an hour.
func (m *machine) pass(d time.Duration) {
	m.Helper()
	for ; d > 0; d -= time.Hour {
		m.wall, m.up = m.wall.Add(min(d, time.Hour)), m.up+min(d, time.Hour)
		if err := m.clock.Check(m.Context()); err != nil {
			m.Fatal(err)
		}
	}
}

// off is a machine that is off for a while, then starts our program again.
func (m *machine) off(d time.Duration, boot string) {
	m.Helper()
	m.wall, m.up, m.boot = m.wall.Add(d), time.Minute, boot
	m.open()
}

func TestClock(t *testing.T) {
	for name, tc := range map[string]struct {
		// do makes something happen, and returns when the thing was whose age counts.
		do       func(m *machine) time.Time
		min, max time.Duration
	}{
		"time passes": {func(m *machine) time.Time { at := m.wall; m.pass(40 * day); return at }, 40 * day, 40 * day},
		"a year ahead": {func(m *machine) time.Time {
			at := m.wall
			m.pass(day)
			m.wall = m.wall.Add(year)
			m.pass(day)
			return at
		}, 2 * day, 2 * day},
		"ahead, unseen": {func(m *machine) time.Time { at := m.wall; m.wall = m.wall.Add(year); return at }, 0, 0},
		"ahead and back": {func(m *machine) time.Time {
			at := m.wall
			m.wall = m.wall.Add(year)
			m.pass(day)
			m.wall = m.wall.Add(-year)
			m.pass(day)
			return at
		}, 2 * day, 2 * day},
		"ahead, half back": {func(m *machine) time.Time {
			at := m.wall
			m.wall = m.wall.Add(year)
			m.pass(day)
			m.wall = m.wall.Add(-year / 2)
			m.pass(day)
			return at
		}, 2 * day, 2 * day},
		"made while ahead": {func(m *machine) time.Time {
			m.wall = m.wall.Add(year)
			m.pass(day)
			at := m.wall
			m.pass(3 * day)
			return at
		}, 3 * day, 3 * day},
		"made ahead, back": {func(m *machine) time.Time {
			m.wall = m.wall.Add(year)
			m.pass(day)
			at := m.wall
			m.wall = m.wall.Add(-year)
			m.pass(3 * day)
			return at
		}, 0, 0},
		"a year behind": {func(m *machine) time.Time { at := m.wall; m.wall = m.wall.Add(-year); m.pass(3 * day); return at }, 0, 0},
		"behind and right": {func(m *machine) time.Time {
			at := m.wall
			m.wall = m.wall.Add(-year)
			m.pass(3 * day)
			m.wall = m.wall.Add(year)
			m.pass(day)
			return at
		}, day - 2*time.Hour, 4 * day},
		"made while behind": {func(m *machine) time.Time {
			m.wall = m.wall.Add(-year)
			m.pass(day)
			at := m.wall
			m.pass(day)
			m.wall = m.wall.Add(year)
			m.pass(day)
			return at
		}, 2 * day, 2 * day},
		"old, then behind": {func(m *machine) time.Time {
			at := m.wall
			m.pass(40 * day)
			m.wall = m.wall.Add(-year)
			m.pass(day)
			m.wall = m.wall.Add(year)
			m.pass(day)
			return at
		}, day - 2*time.Hour, 42 * day},
		"off for a week": {func(m *machine) time.Time { at := m.wall; m.off(7*day, "b"); return at }, 7 * day, 7 * day},
		"off for a year": {func(m *machine) time.Time { at := m.wall; m.pass(day); m.off(year, "b"); m.pass(day); return at }, elapsed.Unseen, elapsed.Unseen + 3*day},
		"asleep":         {func(m *machine) time.Time { at := m.wall; m.wall, m.up = m.wall.Add(100*day), m.up+100*day; return at }, 100 * day, 100 * day},
		"our program was off": {func(m *machine) time.Time {
			at := m.wall
			m.wall, m.up = m.wall.Add(100*day), m.up+100*day
			m.open()
			return at
		}, 100 * day, 100 * day},
		"ahead while off": {func(m *machine) time.Time {
			at := m.wall
			m.wall, m.up = m.wall.Add(year+day), m.up+day
			m.open()
			return at
		}, day, day},
		"1970, then right": {func(m *machine) time.Time {
			at := m.wall
			m.wall = time.Unix(60, 0)
			m.off(0, "b")
			m.pass(day)
			m.wall = at.Add(3 * day)
			return at
		}, 0, 3 * day},
		"twice ahead": {func(m *machine) time.Time {
			at := m.wall
			m.wall = m.wall.Add(year)
			m.pass(day)
			m.wall = m.wall.Add(year)
			m.pass(day)
			return at
		}, 2 * day, 2 * day},
	} {
		t.Run(name, func(t *testing.T) {
			m := &machine{T: t, wall: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), up: day, boot: "a", store: memory.New()}
			m.open()
			at := tc.do(m)
			age := m.clock.Since(at)
			if age < tc.min || age > tc.max {
				t.Errorf("its age is %s, want %s to %s; skips %v", age, tc.min, tc.max, m.clock.Skips())
			}
			if cut := m.clock.Before(tc.max + 2*time.Hour); !at.After(cut) {
				t.Errorf("it counts as older than %s: before %s", tc.max, cut)
			}
			if cut := m.clock.Before(tc.min - time.Hour); tc.min > time.Hour && !at.Before(cut) {
				t.Errorf("it does not count as old as %s: since %s", tc.min, cut)
			}
			m.open() // all of it is known to the next process
			if again := m.clock.Since(at); again != age {
				t.Errorf("its age is %s after a restart, and was %s", again, age)
			}
		})
	}
}
