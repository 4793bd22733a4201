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
		if e := p.Response; e != nil {
			s += fmt.Sprint(" ", e.Usage.Output, e.Model)
		}
		got = append(got, s)
		return p.ID != "enough"
	}}
	add := func(id string, own bool) { r.Add(recorded.Piece{ID: id, Own: own}) }
	end := func(output int64) {
		r.Now().Model = "m"
		r.Count(thread.Usage{Output: output})
		r.End()
	}
	add("prompt", false)
	r.Begin(thread.Exchange{})
	add("a", true)
	add("result of a", false)
	add("b", true)
	end(7)
	add("result of b", false)
	r.Begin(thread.Exchange{})
	add("broken off", true)
	r.Begin(thread.Exchange{})
	add("result", false)
	end(8)
	r.Begin(thread.Exchange{})
	end(9)
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
