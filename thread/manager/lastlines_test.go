package manager_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"orchestrator/thread"
)

// TestLastLineAfterARestart: the next server shows what an agent last said, not what a parent said before a fork, and what
// is said meanwhile stays.
func TestLastLineAfterARestart(t *testing.T) {
	for name, end := range map[string]func(*world){"stop": func(w *world) { w.close(); w.open() }, "kill": (*world).crash} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.create(thread.NewRequest{})
				quiet := w.create(thread.NewRequest{})
				w.says(p.ID, "fix it", "All 212 tests pass.\nMore words.")
				f := w.fork(thread.ForkRequest{Thread: p.Name, Label: "another view"})
				before := w.status(p.ID).Last
				if before != "All 212 tests pass." {
					t.Fatalf("before: %q", before)
				}
				end(w)
				synctest.Wait()
				if got := w.status(p.ID).Last; got != before {
					t.Errorf("after: %q, want %q", got, before)
				}
				for _, s := range []thread.Status{quiet, f} {
					if got := w.status(s.ID).Last; got != "" {
						t.Errorf("%s said %q", s.Name, got)
					}
				}
				if _, err := w.m.Agents.Start(ctx, p.Name, 0, 0); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				w.says(p.ID, "and now", "Done again "+strings.Repeat("x", 500))
				if got := w.status(p.ID).Last; !strings.HasPrefix(got, "Done again x") {
					t.Errorf("then: %q", got)
				}
			})
		})
	}
}
