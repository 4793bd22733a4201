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
			for b.take(6, time.Now()) == 0 {
				n++
			}
			return n
		}
		if n := burst(); n != 6 {
			t.Errorf("at first %d requests pass, want 6", n)
		}
		if wait := b.take(6, time.Now()); wait != 10*time.Second {
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
		if wait := b.take(6, time.Now().Add(-time.Hour)); wait <= 0 || wait > 10*time.Second {
			t.Errorf("with a clock set back the next may come in %v", wait)
		}
	})
}
