package masking

import (
	"cmp"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// The lifetimes of prompt caches. Without a sign of either, the longer one is assumed: to believe that a cache is lost
// although it is not costs a cache write.
const (
	shortLife = 5 * time.Minute
	longLife  = time.Hour
)

// cache is what is known of the provider's prompt cache. It has what the last main request of the session sent.
type cache struct {
	session string        // of the agent
	model   string        // that was asked, "" if none was in this session
	tools   int           // that were offered
	asked   time.Time     // when the last main request was sent, or an answer came before this server started
	ttl     time.Duration // how long the provider keeps it, 0 if that is unknown
}

// sent notes that a main request is sent.
func (c *cache) sent(q wire.Request, now time.Time) {
	c.model, c.tools, c.asked = q.Model, len(q.Tools), now
}

// answered notes for how long the provider says it keeps what it wrote.
func (c *cache) answered(u thread.Usage) {
	switch {
	case u.CacheWriteHour > 0:
		c.ttl = longLife
	case u.CacheWrite > 0:
		c.ttl = shortLife
	}
}

// lost reports whether a request cannot use it because another model is asked, or other tools are offered.
func (c *cache) lost(q wire.Request) bool {
	return c.model != "" && c.session == q.Session && (c.model != q.Model || c.tools != len(q.Tools))
}

// lifetime returns how long the provider keeps it.
func (c *cache) lifetime() time.Duration { return cmp.Or(c.ttl, longLife) }

// expired reports whether the provider keeps it no longer.
func (c *cache) expired(now time.Time) bool { return now.Sub(c.asked) > c.lifetime() }

// idle returns how long nothing was asked, 0 if that is unknown.
func (c *cache) idle(now time.Time) time.Duration {
	if c.asked.IsZero() {
		return 0
	}
	return max(0, now.Sub(c.asked))
}
