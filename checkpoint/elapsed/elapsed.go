// Package elapsed says how long ago something was, by a clock that may be set while nobody looks.
//
// What is deleted for good goes by its age, so that a clock which is a year ahead for an hour must not make everything
// old. The Clock looks at the time now and then and compares how far the wall clock went with how long the machine ran,
// which no setting of the clock changes. Time that the wall clock skipped counts for nothing that is older than the
// skip. While nobody looked and the machine was started again meanwhile, nobody knows how long it was: then at most
// Unseen counts. So an age can be too small, and never too large by more than Unseen and Slack.
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
	// Unseen is the most that counts of a time in which the machine was started again and nobody looked.
	Unseen = 14 * 24 * time.Hour
	// Slack is how far the wall clock may be from the machine's between two looks without being called set.
	Slack = time.Hour

	setting = "clock"
	again   = 24 * time.Hour // after which a look without news is stored
	most    = 100            // skips that are kept
)

// Uptime says how long the machine has run, and which run it is: from start to start, sleep included.
type Uptime func() (up time.Duration, boot string)

// Clock knows what the wall clock skipped. It is safe for concurrent use.
type Clock struct {
	store thread.Settings
	now   func() time.Time
	up    Uptime

	mu     sync.Mutex // guards all below; held while the store is called
	last   look
	stored look
}

// look is what was seen at the last look; it is stored.
type look struct {
	Wall  time.Time     `json:"wall,omitzero"`
	Up    time.Duration `json:"up"`
	Boot  string        `json:"boot"`
	Skips []Skip        `json:"skips,omitempty"`
}

// Skip is a stretch of the wall clock in which less time passed than it says.
type Skip struct {
	From time.Time     `json:"from"`
	To   time.Time     `json:"to"`
	Lost time.Duration `json:"lost"` // that did not pass, less what the clock was set back by since
}

// Open reads what earlier processes saw, and looks.
func Open(ctx context.Context, store thread.Settings, now func() time.Time, up Uptime) (*Clock, error) {
	c := &Clock{store: store, now: now, up: up}
	text, err := store.Setting(ctx, setting)
	if err != nil {
		return nil, fmt.Errorf("read the clock's history: %w", err)
	}
	if text != "" && json.Unmarshal([]byte(text), &c.last) != nil {
		c.last = look{} // not ours: begun again
	}
	c.stored = c.last
	return c, c.Look(ctx)
}

// Look compares the clocks. It is to be called now and then, and before the process ends. Where Open returned an error
// with a Clock, that of the first Look, it can be used as well.
func (c *Clock) Look(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.see()
	if c.last.Boot == c.stored.Boot && slices.Equal(c.last.Skips, c.stored.Skips) && c.last.Wall.Sub(c.stored.Wall).Abs() < again {
		return nil
	}
	text, err := json.Marshal(c.last)
	if err == nil {
		err = c.store.SetSetting(ctx, setting, string(text))
	}
	if err != nil {
		return fmt.Errorf("keep the clock's history: %w", err)
	}
	c.stored = c.last
	return nil
}

// see takes a look. The caller holds mu.
func (c *Clock) see() {
	now := c.now().UTC() // the wall's: without what Go keeps beside it
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

// setBack takes what the clock was set back by from what it skipped before, the latest first. The caller holds mu.
func (c *Clock) setBack(by time.Duration) {
	for i := len(c.last.Skips) - 1; i >= 0 && by > 0; i-- {
		s := &c.last.Skips[i]
		part := min(s.Lost, by)
		s.Lost, s.To, by = s.Lost-part, s.To.Add(-part), by-part
	}
	c.last.Skips = slices.DeleteFunc(c.last.Skips, func(s Skip) bool { return s.Lost <= Slack })
}

// Since says how long ago something was; 0 for what has yet to come. What lies in a skip counts as from its end.
func (c *Clock) Since(at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.see()
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

// Before returns the time since which a duration has passed: what is older is as old as that.
func (c *Clock) Before(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.see()
	at := c.last.Wall.Add(-d)
	for _, s := range slices.Backward(c.last.Skips) {
		if at.Before(s.To) {
			at = at.Add(-s.Lost)
		}
	}
	return at
}

// Skips are the stretches that do not count as they stand.
func (c *Clock) Skips() []Skip {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.last.Skips)
}
