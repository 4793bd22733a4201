package cache_test

import (
	"sync"
	"testing"

	"orchestrator/thread/ground/cache"
)

func TestCache(t *testing.T) {
	c := cache.New[int, string](10)
	for n := range 1000 {
		c.Put(n, "value")
		if _, ok := c.Get(0); !ok {
			t.Fatalf("what is used all the time is gone at %d", n)
		}
	}
	kept := 0
	for n := range 1000 {
		if _, ok := c.Get(n); ok {
			kept++
		}
	}
	if kept < 5 || kept > 10 {
		t.Errorf("%d are kept", kept)
	}
	c.Put(999, "other")
	if v, ok := c.Get(999); v != "other" || !ok {
		t.Errorf("%q, %v", v, ok)
	}
	small := cache.New[int, int](0)
	small.Put(1, 1)
	small.Put(2, 2)
	if v, ok := small.Get(2); v != 2 || !ok {
		t.Error("a cache without room forgets the last")
	}
}

func TestTogether(t *testing.T) {
	c := cache.New[int, int](100)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range 1000 {
				c.Put(n%150, n%150)
				if v, ok := c.Get(n % 130); ok && v != n%130 {
					t.Errorf("%d is %d", n%130, v)
				}
			}
		})
	}
	all.Wait()
}
