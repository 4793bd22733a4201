package masking_test

import (
	"strings"
	"testing"

	"orchestrator/contextmgr/policy"
)

// TestCountedBeforeARestart: short prompts have fewer tokens than their bytes let expect. What the provider counted is
// known after a restart too, so that a conversation that fits is not refused as one that does not; and of a conversation
// that is not the same nothing is known.
func TestCountedBeforeARestart(t *testing.T) {
	for _, f := range some(t) {
		w := open(t, f, policy.ModeSafe)
		w.wayOut = "Fork it."
		w.window = 200_000
		w.items = []string{w.person("fix the bug " + text(0, 20_000))}
		w.ends = true
		ask := func() (tokens int64) {
			t.Helper()
			w.items = append(w.items, w.person("and now this"))
			w.refused = ""
			w.usage = int64(len(strings.Join(w.items, ","))) / 8
			w.send("t1")
			r, err := w.Report("t1")
			if err != nil {
				t.Fatal(err)
			}
			return r.Tokens
		}
		var before int64
		for range 4 {
			before = ask()
		}
		w.window = before * 10 / 8
		if ask(); w.refused != "" {
			t.Fatalf("%s: it is refused before a restart: %s", f.codec.Wire(), w.refused)
		}
		w.restart()
		if after := ask(); w.refused != "" || after > before*11/10 {
			t.Errorf("%s: %d tokens, %d before a restart; refused: %s", f.codec.Wire(), after, before, w.refused)
		}
		w.restart()
		w.items = []string{w.person("fix the bug " + text(0, 20_000))} // rewound: estimated alone
		w.window = 200_000
		w.send("t1")
		if r, err := w.Report("t1"); err != nil || r.Tokens < before*13/10 {
			t.Errorf("%s: a rewound conversation is taken to have %d tokens (%v)", f.codec.Wire(), r.Tokens, err)
		}
	}
}

// TestUnsureIsNotRefused: a request is refused only if it fills the window even if everything is counted as little as
// the estimate can be wrong.
func TestUnsureIsNotRefused(t *testing.T) {
	for _, f := range some(t) {
		for _, c := range []struct {
			share   int64 // of the window, in percent
			refused bool
		}{{96, false}, {125, false}, {150, true}} {
			w := open(t, f, policy.ModeSafe)
			w.window = 1_000_000
			w.items = []string{w.person("fix the bug " + text(0, 20_000))}
			w.send("t0") // another thread's, for its size
			r, err := w.Report("t0")
			if err != nil {
				t.Fatal(err)
			}
			w.wayOut, w.window = "Fork it.", r.Tokens*100/c.share
			if w.send("t1"); (w.refused != "") != c.refused {
				t.Errorf("%s: the first request, estimated at %d %% of the window: refused %q", f.codec.Wire(), c.share, w.refused)
			}
		}
	}
}
