package sqlite

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestDiskFull lets the database grow no further, as a full disk does: the error says so with the bytes it takes,
// nothing that was acknowledged is lost, and the store continues by itself once there is room.
func TestDiskFull(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "state.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.CreateThread(ctx, thread.Thread{ID: "t", Name: "t-0001"}); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		err := s.do(ctx, 0, func(x *tx) error {
			return x.each(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, func(func(...any) error) error { return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(400)
	rnd := rand.New(rand.NewSource(1))
	put := func(n int, parent thread.CheckpointID) error {
		raw := make([]byte, 20_000)
		rnd.Read(raw)
		_, err := s.PutCheckpoint(ctx, thread.Checkpoint{ID: thread.CheckpointID(fmt.Sprint("c", n)), Thread: "t",
			Parent: parent},
			thread.Delta{Keep: n, Items: []thread.Item{{Raw: raw}}})
		return err
	}
	n, head := 0, thread.CheckpointID("")
	for ; ; n++ {
		err = put(n, head)
		if err != nil {
			break
		}
		head = thread.CheckpointID(fmt.Sprint("c", n))
	}
	if !errors.Is(err, thread.ErrDiskFull) || !strings.Contains(err.Error(), "bytes needed") {
		t.Fatalf("put %d: %v", n, err)
	}
	if n < 5 {
		t.Fatalf("full after %d puts", n)
	}
	if err := s.SetSetting(ctx, "small", "fits"); err != nil && !errors.Is(err, thread.ErrDiskFull) {
		t.Fatal(err)
	}
	limit(1 << 20)
	if err := put(n, head); err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	items, err := s.Conversation(ctx, thread.CheckpointID(fmt.Sprint("c", n)))
	if err != nil || len(items) != n+1 {
		t.Fatalf("%d items, want %d: %v", len(items), n+1, err)
	}
}

// TestCloseLeavesTheLog: a full disk has no room to make the files of the log again. The log is empty: a database that
// a person puts in the place of this one is not changed by it.
func TestCloseLeavesTheLog(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "state.db")
	for n := range 2 {
		s, err := Open(ctx, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		id := thread.ID(fmt.Sprint("t", n))
		if err := s.CreateThread(ctx, thread.Thread{ID: id, Name: fmt.Sprintf("t-000%d", n)}); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Threads(ctx); err != nil || len(list) != n+1 {
			t.Errorf("%d threads: %v", len(list), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for suffix, empty := range map[string]bool{"-wal": true, "-shm": false} {
			if info, err := os.Stat(path + suffix); err != nil || (info.Size() == 0) != empty || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", suffix, info, err)
			}
		}
	}
}
