package terminal

import (
	"time"

	"orchestrator/agent/vterm"
)

// clickTime is the maximum time between clicks of a double click.
const clickTime = 400 * time.Millisecond

// clicks counts clicks on the same spot.
type clicks struct {
	at    vterm.Point
	when  time.Time
	count int
}

func (c *clicks) add(p vterm.Point, now time.Time) int {
	if p == c.at && now.Sub(c.when) < clickTime {
		c.count = c.count%3 + 1
	} else {
		c.count = 1
	}
	c.at, c.when = p, now
	return c.count
}
