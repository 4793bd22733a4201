package backup_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"orchestrator/checkpoint/backup"
	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// project is a store with small threads of two turns each.
func project(t testing.TB, threads int) *sqlite.Store {
	t.Helper()
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for i := range threads {
		id := thread.NewID[thread.ID]()
		if err := s.CreateThread(ctx, thread.Thread{ID: id, Name: fmt.Sprintf("small-%04x", i), Label: "small",
			Agent: "demo", Dir: "/", Created: time.Now(), Updated: time.Now()}); err != nil {
			t.Fatal(err)
		}
		var head thread.CheckpointID
		for turn := range 2 {
			c := thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id, Parent: head, Turn: turn + 1,
				Kind: thread.KindTurn, Created: time.Now(), Prompt: "say it", Answer: "said", Items: turn + 1}
			d := thread.Delta{Keep: turn, Items: []thread.Item{{Wire: "anthropic",
				Raw: fmt.Appendf(nil, `{"role":"user","content":"say %d of %d"}`, turn, i)}}}
			if _, err := s.PutCheckpoint(ctx, c, d); err != nil {
				t.Fatal(err)
			}
			head = c.ID
		}
	}
	return s
}

// write backs up a project and returns how much memory that took, freed or not.
func write(t testing.TB, from *sqlite.Store) (taken uint64) {
	t.Helper()
	var before, after runtime.MemStats
	b := backup.Backup{Dir: t.TempDir()}
	runtime.ReadMemStats(&before)
	done, err := b.Write(context.Background(), from, io.Discard)
	runtime.ReadMemStats(&after)
	if err != nil || len(done.Threads) == 0 {
		t.Fatal(done, err)
	}
	return after.TotalAlloc - before.TotalAlloc
}

// TestMemory backs up small threads: a backup takes neither memory for many open groups nor the window of large files.
// The least of a few counts, since the libraries' pools are emptied now and then.
func TestMemory(t *testing.T) {
	if checkpointtest.Raced() {
		t.Skip("SKIPPED under -race, where pools are emptied at random; without it, it runs")
	}
	const most = 20 << 20
	s := project(t, 20)
	if taken := min(write(t, s), write(t, s), write(t, s)); taken > most {
		t.Errorf("a backup of 20 small threads took %d bytes of memory, want at most %d", taken, most)
	}
}
