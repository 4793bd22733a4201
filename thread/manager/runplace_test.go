package manager_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// TestRunStaysInProject: what an agent asked for does not start in a folder that became a link out of the project while
// it waited; what the person asked for does.
func TestRunStaysInProject(t *testing.T) {
	for _, tc := range []struct {
		by   bool
		want exec.State
	}{{true, exec.Failed}, {false, exec.Running}} {
		inWorld(t, func(w *world) {
			asks := w.once("asks")
			w.finish(asks.ID, "asks")
			first := w.once("first")
			sub := filepath.Join(w.dir, "sub")
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			s := w.once("second", func(r *thread.NewRequest) {
				r.Dir, r.InPlace, r.Once.ReadOnly = sub, true, true
				if tc.by {
					r.By = asks.ID
				}
			})
			if x := w.execution(s.ID); x.State != exec.Queued {
				t.Fatalf("%s is %s", x.Name, x.State)
			}
			if err := os.Remove(sub); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(t.TempDir(), sub); err != nil {
				t.Fatal(err)
			}
			w.finish(first.ID, "first")
			x := w.runIs(s.ID, tc.want)
			if tc.by && !strings.Contains(x.Reason, "leads out of the project") {
				t.Errorf("it failed: %s", x.Reason)
			}
		}, withRuns, func(w *world) { w.cfg.Runs.Limits.All = 1 })
	}
}
