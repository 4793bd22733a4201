package work

import (
	"errors"
	"slices"
	"testing"

	"orchestrator/thread"
)

// TestFollows tries every pair.
func TestFollows(t *testing.T) {
	want := map[State]string{ // may follow, besides itself
		Queued:     "deployed failed cancelled",
		Deployed:   "running queued failed cancelled lost",
		Running:    "needs_input queued completed failed cancelled lost",
		NeedsInput: "running queued completed failed cancelled lost",
		Completed:  "",
		Failed:     "queued",
		Cancelled:  "",
		Lost:       "queued failed cancelled",
	}
	if len(want) != len(States()) {
		t.Fatalf("%d states", len(States()))
	}
	for from, list := range want {
		for _, to := range append(States(), "", "unknown") {
			may := to == from || to != "" && slices.Contains(words(list), string(to))
			if Follows(from, to) != may {
				t.Errorf("%s on %s: %v", to, from, !may)
			}
			err := checkFollows(Execution{Name: "exec-001", State: from}, to)
			if (err == nil) != may || err != nil && !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("%s on %s: %v", to, from, err)
			}
		}
	}
	if Follows("", "") || Follows("unknown", Queued) {
		t.Error("an unknown state has a successor")
	}
}

func TestStates(t *testing.T) {
	open := OpenStates()
	for _, s := range States() {
		if slices.Contains(open, s) == s.Final() {
			t.Errorf("%s is open and final", s)
		}
		if s.Holds() && s.Final() || s == Queued && s.Holds() {
			t.Errorf("%s holds a process", s)
		}
		// Who has a process can lose it, and can be cancelled.
		if s.Holds() && (!Follows(s, Lost) || !Follows(s, Cancelled)) {
			t.Errorf("%s cannot end", s)
		}
	}
}
