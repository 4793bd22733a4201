package runs_test

import (
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/runs"
)

// TestOddUsage: numbers that no answer can have used are added to nothing.
func TestOddUsage(t *testing.T) {
	var r runs.Record
	for _, u := range []thread.Usage{{Input: -5, Output: -5}, {Input: 1e11, Output: 3}, {Input: 7, Output: 2}, {CostUSD: -1, Output: 4}} {
		r.Add(thread.RunEvent{Kind: thread.RunUsage, Usage: &u})
	}
	if got := r.Usage(); got != (thread.Usage{Input: 7, Output: 2}) {
		t.Errorf("%+v", got)
	}
}

// TestDiffers: what an agent counts is compared, and told only if both are known and it is off by more than 5 %.
func TestDiffers(t *testing.T) {
	of := func(n int64) thread.Usage {
		return thread.Usage{Input: n / 4, CacheRead: n / 4, CacheWrite: n / 4, Output: n - n/4*3}
	}
	for name, tc := range map[string]struct {
		main, beside, reported int64
		says                   string
	}{
		"the same":                  {10_000, 0, 10_000, ""},
		"nothing":                   {0, 0, 0, ""},
		"the agent reports nothing": {10_000, 0, 0, ""},
		"we counted nothing":        {0, 0, 10_000, ""},
		"5 % more":                  {10_000, 0, 10_500, ""},
		"over 5 % more":             {10_000, 0, 10_501, "its agent counts 10501 tokens, the gateway 10000: the gateway's figure is what counts"},
		"5 % less":                  {10_000, 0, 9_500, ""},
		"over 5 % less":             {10_000, 0, 9_499, "its agent counts 9499 tokens, the gateway 10000: the gateway's figure is what counts"},
		"without requests beside":   {10_000, 3_000, 10_000, ""},
		"with requests beside":      {10_000, 3_000, 13_000, ""},
		"more than all requests":    {10_000, 3_000, 14_000, "its agent counts 14000 tokens, the gateway 13000: the gateway's figure is what counts"},
		"absurd":                    {10_000, 0, 4e14, "its agent counts 400000000000000 tokens, the gateway 10000: the gateway's figure is what counts"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := runs.Differs(of(tc.main), of(tc.beside), of(tc.reported)); got != tc.says {
				t.Errorf("%q, want %q", got, tc.says)
			}
		})
	}
}

// TestDiffersAtTheEnd: an agent that was ended, or has not said how, has not told all that it used.
func TestDiffersAtTheEnd(t *testing.T) {
	before, after := thread.Usage{Input: 50_000}, thread.Usage{Input: 60_000}
	for name, tc := range map[string]struct {
		end  *thread.RunEvent
		says bool
	}{
		"completed": {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCompleted}, true},
		"failed":    {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed}, true},
		"cancelled": {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunCancelled}, false},
		"gone":      {&thread.RunEvent{Kind: thread.RunEnd, Outcome: thread.RunFailed, Gone: true}, false},
		"no end":    {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r runs.Record
			r.Add(thread.RunEvent{Kind: thread.RunUsage, Usage: &thread.Usage{Input: 12_300}})
			if tc.end != nil {
				r.Add(*tc.end)
			}
			if got := r.Differs(before, after, thread.Usage{}); (got != "") != tc.says {
				t.Errorf("%q", got)
			}
		})
	}
}
