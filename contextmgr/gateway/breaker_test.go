package gateway

import (
	"testing"
	"time"
)

// TestBreakerAdmitsOneProbe: an open breaker lets one probe through at a time; each failed probe makes the pause
// longer, up to a limit, and one that is given up makes room for the next.
func TestBreakerAdmitsOneProbe(t *testing.T) {
	var b breaker
	now := time.Now()
	for range opensAt {
		if ok, probe, _ := b.enter(now); !ok || probe {
			t.Fatal("it is open before anything failed often enough")
		}
		b.missed(now)
	}
	before := time.Duration(0)
	for range 8 {
		ok, _, wait := b.enter(now)
		if ok || wait <= 0 || wait > lastPause*5/4 {
			t.Fatalf("open: %v, wait %v", ok, wait)
		}
		if b.pause < before {
			t.Errorf("the pause fell from %v to %v", before, b.pause)
		}
		before = b.pause
		now = now.Add(wait)
		if ok, probe, _ := b.enter(now); !ok || !probe {
			t.Fatal("nobody may look")
		}
		if ok, _, wait := b.enter(now); ok || wait <= 0 {
			t.Fatal("two look at once")
		}
		b.left()
		if ok, probe, _ := b.enter(now); !ok || !probe {
			t.Fatal("nobody may look after a look was given up")
		}
		b.missed(now)
	}
	if before < lastPause {
		t.Errorf("the pause ends at %v", before)
	}
	b.reached()
	if ok, probe, _ := b.enter(now); !ok || probe {
		t.Error("it is open though the upstream is back")
	}
}
