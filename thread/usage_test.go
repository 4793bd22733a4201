package thread_test

import (
	"testing"

	"orchestrator/thread"
)

// TestContextCountsEveryKind: a gauge that leaves out what was read from the cache shows a full context as empty.
func TestContextCountsEveryKind(t *testing.T) {
	u := thread.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000}
	if got := u.Context(); got != 4321 {
		t.Errorf("%+v fills %d tokens", u, got)
	}
}

func TestBandsBegin(t *testing.T) {
	for percent, want := range map[float64]thread.Band{
		0: thread.BandNormal, 29.9: thread.BandNormal,
		30: thread.BandMasking, 59.9: thread.BandMasking,
		60: thread.BandSummarising, 89.9: thread.BandSummarising,
		90: thread.BandEmergency, 94.9: thread.BandEmergency,
		95: thread.BandFull, 1764: thread.BandFull,
	} {
		if got := thread.BandOf(percent); got != want {
			t.Errorf("%v %%: %s, want %s", percent, got, want)
		}
	}
}
