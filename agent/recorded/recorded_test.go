package recorded_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"orchestrator/agent/recorded"
	"orchestrator/thread"
)

// TestResponses: the counts stand on the first piece of their response, whatever came while it was written.
func TestResponses(t *testing.T) {
	var got []string
	r := recorded.Responses{To: func(p recorded.Piece) bool {
		s := p.ID
		if p.Usage != nil {
			s += fmt.Sprint(" ", p.Usage.Output, p.Model)
		}
		got = append(got, s)
		return p.ID != "enough"
	}}
	add := func(id string, own bool) { r.Add(recorded.Piece{ID: id, Own: own}) }
	add("prompt", false)
	r.Begin()
	add("a", true)
	add("result of a", false)
	add("b", true)
	r.End(&thread.Usage{Output: 7}, "m")
	add("result of b", false)
	r.Begin()
	add("broken off", true)
	r.Begin()
	add("result", false)
	r.End(&thread.Usage{Output: 8}, "m")
	r.End(&thread.Usage{Output: 9}, "m")
	want := []string{"prompt", "a 7m", "result of a", "b", "result of b", "broken off", " 8m", "result", " 9m"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if add("enough", false); !r.Stopped() {
		t.Error("goes on after it was stopped")
	}
}

// TestCheck: counts that cannot be true are refused.
func TestCheck(t *testing.T) {
	for _, u := range []thread.Usage{{Input: -1}, {CacheRead: math.MaxInt64}, {CacheWrite: 1 << 41}, {Output: -1}} {
		if recorded.Check(u) == nil {
			t.Errorf("%+v is believed", u)
		}
	}
	if err := recorded.Check(thread.Usage{Input: 5, Output: 1 << 30}); err != nil {
		t.Error(err)
	}
}
