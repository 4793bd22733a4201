package manager_test

import (
	"context"
	"testing"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// What an agent says that it used is checked against what the gateway counted: a difference is told once in the record, and
// added to nothing.
func TestUsageIsChecked(t *testing.T) {
	const note = "its agent counts 40 tokens, the gateway 30: the gateway's figure is what counts"
	for name, tc := range map[string]struct {
		reported  thread.Usage // twice
		noGateway bool
		notes     int
	}{
		"it differs":      {thread.Usage{Input: 12, CacheRead: 3, Output: 5}, false, 1},
		"it is the same":  {thread.Usage{Input: 10, Output: 5}, false, 0},
		"nothing is said": {thread.Usage{}, false, 0},
		"no gateway":      {thread.Usage{Input: 12, CacheRead: 3, Output: 5}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.once("do it", func(r *thread.NewRequest) { r.Flags.NoGateway = tc.noGateway })
				w.runIs(s.ID, exec.Running)
				for range 2 {
					w.sess.of(s.ID).spec.OnRun(thread.RunEvent{Kind: thread.RunUsage, Usage: &tc.reported})
				}
				w.finish(s.ID, "do it") // two answers of 15 tokens
				x := w.runIs(s.ID, exec.Completed)
				if !tc.noGateway && (x.Usage.Context() != 30 || x.Usage.CostUSD != 0.5) {
					t.Errorf("it has used %+v", x.Usage)
				}
				events, err := w.cfg.Runs.Store.Events(context.Background(), x.ID, 0, 1000)
				if err != nil {
					t.Fatal(err)
				}
				notes := 0
				for _, e := range events {
					if e.Kind != "note" {
						continue
					}
					if notes++; e.Text != note || e.Attempt != 1 {
						t.Errorf("%+v", e)
					}
				}
				if notes != tc.notes {
					t.Errorf("%d notes, want %d", notes, tc.notes)
				}
			}, withRuns)
		})
	}
}
