package verb

import (
	"testing"

	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
)

// TestCostIsNeverGuessed: a cost of 0 is shown only where nothing was to be paid.
func TestCostIsNeverGuessed(t *testing.T) {
	used := thread.Usage{Input: 10}
	for want, s := range map[string]thread.Status{
		"-":        {},
		"no price": {Thread: thread.Thread{Usage: used}},
		"$0.00":    {Thread: thread.Thread{Usage: thread.Usage{Input: 10, Priced: true}}},
		"$1.50":    {Thread: thread.Thread{Usage: used, Gauge: thread.Gauge{CostUSD: 1.5}}},
	} {
		if got := page.Cost(s); got != want {
			t.Errorf("%+v: %s, want %s", s.Usage, got, want)
		}
	}
	if got := page.Gauge(thread.Gauge{Tokens: 299, Window: 1000}); got != "299/1.0k 29%" {
		t.Errorf("just below a band: %s", got)
	}
}
