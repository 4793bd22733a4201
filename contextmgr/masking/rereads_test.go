package masking

import (
	"testing"

	"orchestrator/contextmgr/policy"
)

// TestRereads: what is read again soon after it was masked counts once, and so does each retrieval.
func TestRereads(t *testing.T) {
	read := func(request int, r policy.Result, what string) measurement {
		r.Request = request
		return measurement{
			number: numbering{last: request}, results: []policy.Result{{Reads: "old"}, r}, uses: []policy.Use{{}, {Part: what}},
		}
	}
	r := rereads{masked: map[part]int{}}
	r.mask(part{"a", "1"}, 10)
	r.mask(part{"b", ""}, 10)
	r.mask(part{"", ""}, 10)
	for i, tt := range []struct {
		m    measurement
		want int
	}{
		{read(11, policy.Result{Reads: "a"}, "2"), 0},
		{read(11, policy.Result{}, ""), 0},
		{read(11, policy.Result{Reads: "a", Kind: policy.KindInput}, "1"), 0},
		{read(11, policy.Result{Reads: "a"}, "1"), 1},
		{read(12, policy.Result{Reads: "a"}, "1"), 1}, // it is not masked any more
		{read(10+soon+1, policy.Result{Reads: "b"}, ""), 1},
		{read(10+soon, policy.Result{Reads: "b"}, ""), 2},
		{read(90, policy.Result{Kind: policy.KindRetrieval}, ""), 3},
	} {
		if r.look(tt.m); r.count != tt.want {
			t.Errorf("after request %d there are %d, want %d", i, r.count, tt.want)
		}
	}
}
