// Package cache remembers a bounded number of values.
package cache

import "sync"

// Cache is safe for concurrent use. It has two generations: what is new or used goes to the young one, and once that is
// half of the limit, it becomes the old one, and the old one is given up. So what was not used for longest goes first.
type Cache[K comparable, V any] struct {
	half int

	mu         sync.Mutex
	young, old map[K]V
}

// New returns a cache of at most that many values.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{half: max(1, limit/2), young: map[K]V{}}
}

// Get returns a value, and whether it is remembered.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok = c.young[k]; ok {
		return v, true
	}
	if v, ok = c.old[k]; ok {
		c.put(k, v)
	}
	return v, ok
}

// Put remembers a value.
func (c *Cache[K, V]) Put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, v)
}

func (c *Cache[K, V]) put(k K, v V) {
	if _, ok := c.young[k]; !ok && len(c.young) >= c.half {
		c.old, c.young = c.young, map[K]V{}
	}
	c.young[k] = v
}
