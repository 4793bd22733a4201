package manager_test

import (
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestDisplaced imports a thread into a folder: what its next turn is said to have changed is what it changed, whatever
// the folder held before, and the person is told that the thread's own files are not there.
func TestDisplaced(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w *world, s thread.Status) // after the import, before its agent is started
		told   bool
		stands bool // a safety checkpoint has the folder as it was
	}{
		"other files":  {before: func(w *world, s thread.Status) { w.trees.set(s.Dir, "its own") }, told: true, stands: true},
		"empty folder": {before: func(w *world, s thread.Status) { w.trees.set(s.Dir, "") }, told: true, stands: true},
		"same files":   {before: func(*world, thread.Status) {}},
		"restored first": {before: func(w *world, s thread.Status) {
			w.trees.set(s.Dir, "its own")
			w.m.Lifecycle.Imported(ctx, []thread.ID{s.ID})
			if _, err := w.m.Rewinds.Rewind(ctx, thread.RewindRequest{Thread: s.Name, At: "1", Files: true}); err != nil {
				w.t.Fatal(err)
			}
		}},
		"no snapshot possible": {before: func(w *world, s thread.Status) { w.trees.fail = thread.ErrBusy }},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				s := w.create(thread.NewRequest{})
				w.trees.set(s.Dir, "as after turn 1")
				w.turn(s.ID, "one")
				w.close()
				if _, err := w.store.UpdateThread(ctx, s.ID, func(t *thread.Thread) error { t.Displaced = true; return nil }); err != nil {
					t.Fatal(err)
				}
				w.open()
				c.before(w, s)
				left := w.m.Lifecycle.Imported(ctx, []thread.ID{s.ID})
				if told := len(left) == 1; told != c.told {
					t.Fatalf("told: %v", left)
				}
				if c.told && (!strings.Contains(left[0].Why, "checkpoint restore --files "+s.Name+" 1") || left[0].Path != s.Dir) {
					t.Errorf("told %v", left)
				}
				if said := strings.Contains(w.events.notices(), "import leaves out files"); said != (c.told || name == "restored first") {
					t.Errorf("the screen was told %q", w.events.notices())
				}
				if _, err := w.m.Agents.Resume(ctx, s.Name, thread.ResumeRequest{}); err != nil {
					t.Fatal(err)
				}
				w.trees.fail = nil
				if w.status(s.ID).Displaced {
					t.Error("the thread is displaced after its start")
				}
				own, err := w.store.Checkpoints(ctx, s.ID, thread.Page{Limit: 1})
				if err != nil || len(own) == 0 {
					t.Fatal(own, err)
				}
				if stands := own[0].Kind == thread.KindSafety && strings.HasPrefix(own[0].Note, "the folder as it was"); stands != c.stands {
					t.Errorf("the newest checkpoint is %+v", own[0])
				}
				if c.stands && own[0].Snapshot.Tree != w.trees.get(s.Dir) {
					t.Errorf("it has the files %q", own[0].Snapshot.Tree)
				}
			})
		})
	}
}
