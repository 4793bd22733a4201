package server

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"orchestrator/thread"
)

const (
	clockSetting = "clock"
	// clockUnseen is how far the clock may be ahead of the last look at it and is believed.
	clockUnseen = 14 * 24 * time.Hour
	// clockStored is how far the stored time may lag.
	clockStored = time.Hour
)

// clock is the wall clock, as far as it is believed: permanent deletion depends on age, so a clock that is a year ahead
// for an hour must not make everything old. One that jumped ahead stands still until it is set back, or the user accepts
// it. It is safe for concurrent use. Times that are stored and shown are the wall clock's, right or wrong.
type clock struct {
	settings thread.Settings
	now      func() time.Time

	mu       sync.Mutex // guards all below; held while the settings are called
	wall     time.Time  // the last time that was believed
	jumped   time.Time  // what the clock showed, if that is not believed
	asked    bool       // whether it was said so to who may accept it
	stored   time.Time
	accepted time.Time // the last jump that was accepted
}

// openClock reads the time that an earlier process believed, and looks at the clock.
func openClock(ctx context.Context, settings thread.Settings, now func() time.Time) (*clock, error) {
	c := &clock{settings: settings, now: now}
	text, err := settings.Setting(ctx, clockSetting)
	if err != nil {
		return nil, fmt.Errorf("read the clock's last time: %w", err)
	}
	var was struct {
		Wall  time.Time `json:"wall"`
		Skips []struct {
			Lost time.Duration `json:"lost"`
		} `json:"skips"` // of builds before December 2026, which counted the time that passed
	}
	if json.Unmarshal([]byte(text), &was) == nil { // otherwise it is not ours: start over
		c.wall, c.stored = was.Wall, was.Wall
		for _, s := range was.Skips {
			c.wall = c.wall.Add(-s.Lost)
		}
	}
	return c, c.check(ctx)
}

// look compares the clock with the last look. The caller holds mu.
func (c *clock) look() {
	now := c.now().UTC()
	if !c.wall.IsZero() && now.Sub(c.wall) > clockUnseen {
		c.jumped = now
		return
	}
	c.wall, c.jumped, c.asked = now, time.Time{}, false
}

// check looks at the clock, and stores the time now and then. Call it often.
func (c *clock) check(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	if c.wall.Sub(c.stored).Abs() < clockStored {
		return nil
	}
	text, err := json.Marshal(map[string]time.Time{"wall": c.wall})
	if err == nil {
		err = c.settings.SetSetting(ctx, clockSetting, string(text))
	}
	if err != nil {
		return fmt.Errorf("store the clock's time: %w", err)
	}
	c.stored = c.wall
	return nil
}

// since returns how long ago a time was; 0 if it is in the future. What was stored after a jump gets older by the clock
// that jumped.
func (c *clock) since(at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	now := c.wall
	if at.After(now) && !c.jumped.IsZero() {
		now = c.jumped
	}
	return max(0, now.Sub(at))
}

// time returns the time that is believed.
func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.look()
	return c.wall
}

// doubt returns what is not believed, "" if all is.
func (c *clock) doubt() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look(); c.jumped.IsZero() {
		return ""
	}
	return fmt.Sprintf("the clock jumped from %s to %s: nothing ages until you accept that. If the date is right, run "+
		"`orchestrator gc` twice: the first run deletes nothing; if not, set the clock", c.wall.Local().Format(time.DateOnly), c.jumped.Local().Format(time.DateOnly))
}

// accept has the clock believed if the doubt was asked about before, and asks otherwise. It reports whether the clock is
// believed from now on.
func (c *clock) accept() (accepted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look(); !c.jumped.IsZero() && c.asked {
		c.wall, c.accepted, accepted = c.jumped, c.jumped, true
	}
	c.asked = !c.jumped.IsZero() && !accepted
	c.look()
	return accepted
}

// acceptedSince reports whether a jump was accepted after a time.
func (c *clock) acceptedSince(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.accepted.After(at)
}
