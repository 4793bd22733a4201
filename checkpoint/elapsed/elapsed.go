// Package elapsed says how long ago something was, even if the clock was changed in between.
//
// Permanent deletion depends on age, so a clock that is a year ahead for an hour must not make everything old. The
// Clock checks the time now and then and compares how far the wall clock advanced with how long the machine ran, which
// no setting of the clock changes. Time that the wall clock skipped does not count for anything older than the skip. If
// the machine was restarted between two checks, the real duration is unknown: then at most Unseen counts. So an age can
// be too small, and never too large by more than Unseen and Slack.
//
// Only ages are corrected. Times that are stored and shown are the wall clock's, right or wrong.
package elapsed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"orchestrator/thread"
)

const (
	// Unseen is the most that counts of a period in which the machine was restarted without a check.
	Unseen = 14 * 24 * time.Hour
	// Slack is how far the wall clock may deviate from the machine's between two checks without counting as changed.
	Slack = time.Hour

	setting = "clock"
	again   = 24 * time.Hour // after which a check without news is stored
	most    = 100            // skips that are kept
)

// Uptime returns how long the machine has run, sleep included, and an id of this boot.
type Uptime func() (up time.Duration, boot string)

// Clock knows what the wall clock skipped. It is safe for concurrent use.
type Clock struct {
	store thread.Settings
	now   func() time.Time
	up    Uptime

	mu     sync.Mutex // guards all below; held while the store is called
	last   reading
	stored reading
}

// reading is the state at the last check; it is stored.
type reading struct {
	Wall  time.Time     `json:"wall,omitzero"`
	Up    time.Duration `json:"up"`
	Boot  string        `json:"boot"`
	Skips []Skip        `json:"skips,omitempty"`
}

// Skip is a period of the wall clock in which less time passed than it shows.
type Skip struct {
	From time.Time     `json:"from"`
	To   time.Time     `json:"to"`
	Lost time.Duration `json:"lost"` // did not pass, less what the clock was set back by since
}

// Open reads what earlier processes recorded, and checks the clock.
func Open(ctx context.Context, store thread.Settings, now func() time.Time, up Uptime) (*Clock, error) {
	c := &Clock{store: store, now: now, up: up}
	text, err := store.Setting(ctx, setting)
	if err != nil {
		return nil, fmt.Errorf("read the clock's history: %w", err)
	}
	if text != "" && json.Unmarshal([]byte(text), &c.last) != nil {
		c.last = reading{} // not ours: start again
	}
	c.stored = c.last
	return c, c.Check(ctx)
}

// Check compares the clocks. Call it now and then, and before the process ends. If Open returned an error with a Clock,
// that of its first Look, the Clock can be used as well.
func (c *Clock) Check(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare()
	if c.last.Boot == c.stored.Boot && slices.Equal(c.last.Skips, c.stored.Skips) &&
		c.last.Wall.Sub(c.stored.Wall).Abs() < again {
		return nil
	}
	text, err := json.Marshal(c.last)
	if err == nil {
		err = c.store.SetSetting(ctx, setting, string(text))
	}
	if err != nil {
		return fmt.Errorf("store the clock's history: %w", err)
	}
	c.stored = c.last
	return nil
}

// compare checks the clocks. The caller holds mu.
func (c *Clock) compare() {
	now := c.now().UTC() // the wall clock's time, without Go's monotonic reading
	up, boot := c.up()
	was := c.last
	c.last.Wall, c.last.Up, c.last.Boot = now, up, boot
	if was.Wall.IsZero() {
		return
	}
	said := now.Sub(was.Wall)
	passed := min(max(said, 0), Unseen)
	if boot == was.Boot && up >= was.Up {
		passed = up - was.Up
	}
	c.last.Skips = slices.Clone(was.Skips)
	lost := said - passed
	if lost < 0 {
		c.setBack(-lost)
	}
	if lost > Slack {
		c.last.Skips = append(c.last.Skips, Skip{From: was.Wall, To: now, Lost: lost})
		c.last.Skips = c.last.Skips[max(0, len(c.last.Skips)-most):]
	}
}

// setBack subtracts what the clock was set back by from earlier skips, the latest first. The caller holds mu.
func (c *Clock) setBack(by time.Duration) {
	for i := len(c.last.Skips) - 1; i >= 0 && by > 0; i-- {
		s := &c.last.Skips[i]
		part := min(s.Lost, by)
		s.Lost, s.To, by = s.Lost-part, s.To.Add(-part), by-part
	}
	c.last.Skips = slices.DeleteFunc(c.last.Skips, func(s Skip) bool { return s.Lost <= Slack })
}

// Since returns how long ago a time was; 0 if it is in the future. A time inside a skip counts from the end of the
// skip.
func (c *Clock) Since(at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare()
	for _, s := range c.last.Skips {
		if at.After(s.From) && at.Before(s.To) {
			at = s.To
		}
	}
	age := c.last.Wall.Sub(at)
	for _, s := range c.last.Skips {
		if !at.After(s.From) {
			age -= s.Lost
		}
	}
	return max(age, 0)
}

// Before returns the time that is a duration ago: anything earlier is at least as old.
func (c *Clock) Before(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare()
	at := c.last.Wall.Add(-d)
	for _, s := range slices.Backward(c.last.Skips) {
		if at.Before(s.To) {
			at = at.Add(-s.Lost)
		}
	}
	return at
}

// Skips returns the periods that do not fully count.
func (c *Clock) Skips() []Skip {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.last.Skips)
}
