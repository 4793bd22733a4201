package masking_test

import (
	"cmp"
	"slices"
	"testing"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// TestRules: a rule of the settings keeps results that were masked without it, and people are told of it.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule policy.Rule
		kept string
	}{
		{policy.Rule{Tool: "nobody's", Keep: true}, ""},
		{policy.Rule{Tool: "BA*", Keep: true}, "by rule for BA*"},
		{policy.Rule{Tool: "bash", MinTokens: 1 << 30}, "by rule for bash (small)"},
	} {
		w := open(t, formats()[0], policy.ModeLean)
		w.rules = []policy.Rule{c.rule}
		masked := len(stub.FindAllString(w.grow(60), -1)) > 0
		if want := c.rule.Tool == "nobody's"; masked != want {
			t.Errorf("%+v: masked %v", c.rule, masked)
		}
		r, err := w.Report("t1")
		if err != nil || len(r.Results) == 0 {
			t.Fatal(err)
		}
		for _, res := range r.Results { // each says why it is as it is
			if res.Masked != (res.MaskedIn > 0) || res.Why == "" && res.Kept == "" {
				t.Errorf("%+v: nothing says why: %+v", c.rule, res)
			}
		}
		if last := r.Results[len(r.Results)-1]; last.Kept == "" && last.Why != "its turn is still running" && last.Why != "one of the newest" {
			t.Errorf("%+v: the newest result: %+v", c.rule, last)
		}
		largest := slices.MaxFunc(r.Results, func(a, b thread.ContextResult) int { return cmp.Compare(a.Tokens, b.Tokens) })
		if largest.Kept != c.kept {
			t.Errorf("%+v: kept because %q, want %q", c.rule, largest.Kept, c.kept)
		}
	}
}
