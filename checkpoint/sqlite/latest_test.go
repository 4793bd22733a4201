package sqlite_test

import (
	"path/filepath"
	"testing"

	"orchestrator/thread"
)

// TestPutKeepsWhatChangedMeanwhile: the thread that the store keeps in memory between two puts is not taken for the
// stored one where that was changed in between.
func TestPutKeepsWhatChangedMeanwhile(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	k := newTalk(t, s, "a-0001")
	k.say("one", "first answer")
	if _, err := s.UpdateThread(t.Context(), k.id, func(th *thread.Thread) error {
		th.Label = "renamed"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	k.say("two", "second answer")
	got, err := s.Thread(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	if got.Label != "renamed" {
		t.Errorf("after a put the thread's label is %q, want that of the change before", got.Label)
	}
}
