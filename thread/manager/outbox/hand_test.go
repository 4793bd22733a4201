package outbox_test

import (
	"testing"

	"orchestrator/thread/manager/outbox"
)

// TestHand looks at every step in every phase.
func TestHand(t *testing.T) {
	reach := map[outbox.Phase]func(h *outbox.Hand){
		outbox.Free:   func(*outbox.Hand) {},
		outbox.InLine: func(h *outbox.Hand) { h.LineUp() },
		outbox.AtWork: func(h *outbox.Hand) { h.Begin("p1") },
		outbox.Called: func(h *outbox.Hand) { h.Begin("p1"); h.Call() },
	}
	type result struct {
		phase outbox.Phase
		says  bool
	}
	for _, c := range []struct {
		name string
		step func(h *outbox.Hand) bool
		want map[outbox.Phase]result
	}{
		{"call", (*outbox.Hand).Call, map[outbox.Phase]result{
			outbox.Free: {outbox.Free, false}, outbox.InLine: {outbox.InLine, false},
			outbox.AtWork: {outbox.Called, true}, outbox.Called: {outbox.Called, true},
		}},
		{"line up", (*outbox.Hand).LineUp, map[outbox.Phase]result{
			outbox.Free: {outbox.InLine, true}, outbox.InLine: {outbox.InLine, false},
			outbox.AtWork: {outbox.AtWork, false}, outbox.Called: {outbox.Called, false},
		}},
		{"leave the line", func(h *outbox.Hand) bool { h.LeaveLine(); return false }, map[outbox.Phase]result{
			outbox.Free: {outbox.Free, false}, outbox.InLine: {outbox.Free, false},
			outbox.AtWork: {outbox.AtWork, false}, outbox.Called: {outbox.Called, false},
		}},
		{"begin", func(h *outbox.Hand) bool { return h.Begin("p2") }, map[outbox.Phase]result{
			outbox.Free: {outbox.AtWork, true}, outbox.InLine: {outbox.InLine, false},
			outbox.AtWork: {outbox.AtWork, false}, outbox.Called: {outbox.Called, false},
		}},
		{"end", (*outbox.Hand).End, map[outbox.Phase]result{
			outbox.Free: {outbox.Free, false}, outbox.InLine: {outbox.InLine, false},
			outbox.AtWork: {outbox.Free, false}, outbox.Called: {outbox.Free, true},
		}},
	} {
		for phase, want := range c.want {
			var h outbox.Hand
			reach[phase](&h)
			if h.Phase() != phase {
				t.Fatalf("phase %d is not reached", phase)
			}
			says := c.step(&h)
			if h.Phase() != want.phase || says != want.says {
				t.Errorf("%s in phase %d: %d, %v; want %d, %v", c.name, phase, h.Phase(), says, want.phase, want.says)
			}
			if types := h.Phase() == outbox.AtWork || h.Phase() == outbox.Called; types != (h.Typing() != "") {
				t.Errorf("%s in phase %d: types %q", c.name, phase, h.Typing())
			}
		}
	}
}
