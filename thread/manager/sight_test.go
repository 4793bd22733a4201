package manager

import "testing"

func TestSight(t *testing.T) {
	for _, tc := range []struct {
		direct, transcript bool
		want               sight
		alone              bool
	}{
		{false, true, sightGateway, false},
		{false, false, sightRequests, true},
		{true, true, sightTranscript, false},
		{true, false, sightNone, true},
	} {
		got := sightOf(tc.direct, tc.transcript)
		if got != tc.want || got.direct() != tc.direct || got.requestsAlone() != tc.alone {
			t.Errorf("direct %v, transcript %v: %d, direct %v, requests alone %v; want %d, %v, %v",
				tc.direct, tc.transcript, got, got.direct(), got.requestsAlone(), tc.want, tc.direct, tc.alone)
		}
	}
}
