package manager

import "testing"

func TestSight(t *testing.T) {
	for _, tc := range []struct {
		direct, transcript bool
		want               visibility
		alone              bool
	}{
		{false, true, fullVisibility, false},
		{false, false, requestsVisible, true},
		{true, true, transcriptVisible, false},
		{true, false, notVisible, true},
	} {
		got := visibilityOf(tc.direct, tc.transcript)
		if got != tc.want || got.direct() != tc.direct || got.requestsAlone() != tc.alone {
			t.Errorf("direct %v, transcript %v: %d, direct %v, requests alone %v; want %d, %v, %v",
				tc.direct, tc.transcript, got, got.direct(), got.requestsAlone(), tc.want, tc.direct, tc.alone)
		}
	}
}
