package repository

import (
	"testing"

	"orchestrator/thread"
)

// TestAJournalAtWorkIsNotLeft: an operation that somebody works on is nobody else's to finish; once it is left it is.
func TestAJournalAtWorkIsNotLeft(t *testing.T) {
	js := Journals{state: t.TempDir(), repository: "own"}
	commit := "0123456789012345678901234567890123456789"
	j, err := js.Begin(Operation{Kind: KindRestore, Thread: "t1", Target: &thread.Snapshot{Commit: commit}})
	if err != nil {
		t.Fatal(err)
	}
	left := func(want int) {
		t.Helper()
		ops, refused, err := js.Left()
		if err != nil || len(refused) > 0 || len(ops) != want {
			t.Errorf("left are %+v, refused %q, %v; want %d", ops, refused, err, want)
		}
	}
	left(0)
	j.Leave()
	left(1)
	if err := js.Forget(j.Operation); err != nil {
		t.Fatal(err)
	}
	left(0)
}
