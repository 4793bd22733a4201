package gateway

import (
	"sync"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/thread"
)

// cacheLife is how long after an answer its provider's cache is expected to hold what it held then: less than the five
// minutes that it holds it for.
const cacheLife = 4 * time.Minute

// caches is what providers had in their caches at the newest answers of a thread, by model, apart for what goes on beside
// its conversation.
type caches struct {
	mu   sync.Mutex // a leaf
	last map[prefix]cached
}

// prefix is what a cache is of.
type prefix struct {
	model string
	main  bool
}

// cached is what one answer told of a cache.
type cached struct {
	tokens int64 // that were read from it or written to it
	hour   bool  // they were written for an hour
	at     time.Time
}

// mostPrefixes bounds what is kept: models' names come from requests.
const mostPrefixes = 32

// learn takes what an answer told.
func (c *caches) learn(model string, main bool, u thread.Usage, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || len(c.last) >= mostPrefixes {
		c.last = map[prefix]cached{}
	}
	c.last[prefix{model, main}] = cached{tokens: u.CacheRead + u.CacheWrite, hour: u.CacheWriteHour > 0, at: at}
}

// expect returns a request's likely usage: as much of its input is read from the cache as was there at the newest answer, a
// moment ago; the rest is written to it, or goes past it, whichever costs more.
func (c *caches) expect(t models.Table, model string, main bool, input, output int64, now time.Time) (usd float64, known bool) {
	c.mu.Lock()
	was := c.last[prefix{model, main}]
	c.mu.Unlock()
	n := models.Tokens{Output: output}
	if now.Sub(was.at) < cacheLife {
		n.CacheRead = min(was.tokens, input)
	}
	past, written := n, n
	past.Input = input - n.CacheRead
	written.CacheWrite = input - n.CacheRead
	if was.hour {
		written.CacheWriteHr = written.CacheWrite
	}
	a, known := t.Cost(model, past)
	b, _ := t.Cost(model, written)
	return max(a, b), known
}
