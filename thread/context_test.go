package thread

import (
	"strconv"
	"strings"
	"testing"
)

// TestResultSays: each result says what becomes of it, and why.
func TestResultSays(t *testing.T) {
	for _, c := range []struct {
		r    ContextResult
		want string
	}{
		{ContextResult{}, "sent"},
		{ContextResult{Why: "one of the newest"}, "sent: one of the newest"},
		{ContextResult{Kept: "error"}, "kept: error"},
		{ContextResult{Kept: "small"}, "kept: small"},
		{ContextResult{Kept: KeptByRule("mcp__github__*")}, "kept by rule for mcp__github__*"},
		{ContextResult{Kept: "pinned", Pinned: true}, "pinned"},
		{ContextResult{Masked: true, MaskedIn: 12, Why: "it pays"}, "masked at 12: it pays"},
		{ContextResult{Masked: true}, "masked"},
	} {
		if got := c.r.Says(); got != c.want {
			t.Errorf("%+v says %q, want %q", c.r, got, c.want)
		}
	}
}

// TestNothingToMask says what keeps most of the results.
func TestNothingToMask(t *testing.T) {
	of := func(kept string, n int) (all []ContextResult) {
		for range n {
			all = append(all, ContextResult{Kept: kept})
		}
		return all
	}
	all := append(append(of(KeptByRule("read_file"), 14), of("small", 3)...), of("error", 1)...)
	all = append(all, ContextResult{Masked: true})
	for _, c := range []struct {
		all  []ContextResult
		want string
	}{
		{nil, "nothing to mask"},
		{all[18:], "nothing to mask"},
		{all, "nothing to mask: 14 results kept by rule for read_file; 3 kept: small"},
		{[]ContextResult{{Why: "its turn is still running"}}, "nothing to mask: 1 result sent: its turn is still running"},
	} {
		if got := NothingToMask(c.all); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestTurnsTo forecasts from the newest turns only, and not from too few.
func TestTurnsTo(t *testing.T) {
	curve := func(sizes string) (out []ContextPoint) { // turns are apart by spaces, responses by commas
		for turn, group := range strings.Fields(sizes) {
			for size := range strings.SplitSeq(group, ",") {
				n, err := strconv.ParseInt(size, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, ContextPoint{Turn: turn + 1, Tokens: n})
			}
		}
		return out
	}
	for _, c := range []struct {
		sizes   string
		window  int64
		percent float64
		turns   int
		known   bool
	}{
		{"10 20 30 40", 100, 60, 2, true},
		{"10,15 12,20 25,30 31,35,40", 100, 60, 3, true}, // the ends of turns count
		{"10 20 30", 100, 60, 0, false},                  // two turns of growth say little
		{"10 20 90 30 40 50 60", 100, 90, 3, true},       // what was before it became smaller says nothing
		{"10 20 30 10 20 30", 100, 90, 0, false},
		{"0 1 2 3 13 23 33 43 53", 100, 90, 4, true}, // only the newest
		{"10 10 10 10", 100, 60, 0, false},           // it does not grow
		{"10 20 30 40", 100, 30, 0, false},           // it is there
		{"10 20 30 40", 0, 60, 0, false},
		{"10 11 12 13", 100_000, 60, 0, false}, // too far to say
		{"", 100, 60, 0, false},
	} {
		if turns, known := TurnsTo(curve(c.sizes), c.window, c.percent); turns != c.turns || known != c.known {
			t.Errorf("%q to %v%% of %d: %d turns, known %v", c.sizes, c.percent, c.window, turns, known)
		}
	}
}
