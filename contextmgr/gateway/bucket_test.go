package gateway

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBucketLetsThroughWhatAMinuteMayHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bucket
		burst := func() (n int) {
			for b.take(6, time.Now(), 0) == 0 {
				n++
			}
			return n
		}
		if n := burst(); n != 6 {
			t.Errorf("at first %d requests pass, want 6", n)
		}
		if wait := b.take(6, time.Now(), 0); wait != 10*time.Second {
			t.Errorf("the next may come in %v, want 10 s", wait)
		}
		time.Sleep(10*time.Second - time.Nanosecond)
		if n := burst(); n != 0 {
			t.Errorf("%d requests pass too early", n)
		}
		time.Sleep(time.Nanosecond)
		if n := burst(); n != 1 {
			t.Errorf("%d requests pass after ten seconds, want 1", n)
		}
		time.Sleep(time.Hour)
		if n := burst(); n != 6 {
			t.Errorf("%d requests pass after an hour, want 6", n)
		}
		if wait := b.take(6, time.Now().Add(-time.Hour), 0); wait <= 0 || wait > 10*time.Second {
			t.Errorf("with a clock set back the next may come in %v", wait)
		}
	})
}

// TestBucketAhead: whoever may wait takes a request ahead, each later than the one before, but none that is too far away; one
// that is given back is another's.
func TestBucketAhead(t *testing.T) {
	var b bucket
	now := time.Unix(1000, 0)
	for range 2 {
		if wait := b.take(2, now, time.Minute); wait != 0 {
			t.Fatalf("it waits for %v", wait)
		}
	}
	for _, want := range []time.Duration{30 * time.Second, time.Minute, 90 * time.Second, 90 * time.Second} {
		if wait := b.take(2, now, time.Minute); wait != want {
			t.Errorf("it waits for %v, want %v", wait, want)
		}
	}
	b.back()
	if wait := b.take(2, now.Add(10*time.Second), time.Minute); wait != 50*time.Second {
		t.Errorf("one that was given back may be sent in %v", wait)
	}
}
