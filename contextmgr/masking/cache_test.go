package masking

import (
	"testing"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// TestCache: the cache is lost with another model or other tools of the same session, and when its time is over, which is
// an hour until the provider says otherwise.
func TestCache(t *testing.T) {
	now := time.Unix(1e9, 0)
	var c cache
	if c.lost(wire.Request{Model: "a"}) || !c.expired(now) || c.idle(now) != 0 {
		t.Error("before the first request it is lost to it, or kept, or idle")
	}
	c.session = "s"
	c.sent(wire.Request{Session: "s", Model: "a", Tools: []string{"Read"}}, now)
	for _, tt := range []struct {
		q    wire.Request
		lost bool
	}{
		{wire.Request{Session: "s", Model: "a", Tools: []string{"Bash"}}, false}, // as many
		{wire.Request{Session: "s", Model: "b", Tools: []string{"Read"}}, true},
		{wire.Request{Session: "s", Model: "a"}, true},
		{wire.Request{Session: "other", Model: "b"}, false}, // says nothing about this one
	} {
		if got := c.lost(tt.q); got != tt.lost {
			t.Errorf("%+v: lost %v", tt.q, got)
		}
	}
	for _, tt := range []struct {
		written thread.Usage
		life    time.Duration
	}{
		{thread.Usage{}, time.Hour}, {thread.Usage{CacheWrite: 9}, 5 * time.Minute}, {thread.Usage{}, 5 * time.Minute},
		{thread.Usage{CacheWrite: 9, CacheWriteHour: 9}, time.Hour},
	} {
		c.answered(tt.written)
		if c.lifetime() != tt.life || c.expired(now.Add(tt.life)) || !c.expired(now.Add(tt.life+1)) {
			t.Errorf("%+v: it is kept for %s", tt.written, c.lifetime())
		}
	}
	if c.idle(now.Add(time.Minute)) != time.Minute || c.idle(now.Add(-time.Minute)) != 0 {
		t.Error("the time without a request is wrong")
	}
}
