package masking

import "testing"

// TestCount: a request is as large as the last that was counted, and what it is estimated to have more.
func TestCount(t *testing.T) {
	var c count
	if c.context(100) != 100 || c.added(100) != 0 || c.ratio() != 1 || c.margin(0.1) != aloneMargin || c.margin(0.5) != 0.5 {
		t.Errorf("of nothing that was counted: %d, %d, %g, %g", c.context(100), c.added(100), c.ratio(), c.margin(0.1))
	}
	c = count{Input: 300, Estimate: 200, Items: 4, answered: 310, request: 7}
	for estimate, want := range map[int64][2]int64{200: {300, 0}, 250: {350, 50}, 150: {250, 0}, -400: {0, 0}} {
		if got := [2]int64{c.context(estimate), c.added(estimate)}; got != want {
			t.Errorf("estimated at %d: %d and %d more, want %d", estimate, got[0], got[1], want)
		}
	}
	if c.ratio() != 1.5 || c.margin(0.1) != 0.1 {
		t.Errorf("ratio %g, margin %g", c.ratio(), c.margin(0.1))
	}
	if !c.precedes(8) || c.precedes(7) || c.precedes(9) || (&count{request: -1, answered: 1}).precedes(0) || (&count{}).precedes(1) {
		t.Error("another request than the next follows")
	}
	before := c
	if c.recall(count{Input: 1}, 9); c != before {
		t.Error("what was counted is forgotten for what was counted before")
	}
	if c.forget(); c != (count{request: 7}) {
		t.Errorf("of another session is left %+v", c)
	}
	if c.recall(before, 3); c.Input != 0 {
		t.Error("a conversation of fewer items goes on from what was counted")
	}
	if c.recall(before, 4); c != (count{Input: 300, Estimate: 200, Items: 4, request: 7}) {
		t.Errorf("recalled %+v", c)
	}
}
