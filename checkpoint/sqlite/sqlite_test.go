package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"orchestrator/checkpoint/checkpointtest"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	return s
}

// closed closes a store when the test is over.
func closed(t testing.TB, s *sqlite.Store) {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestConformance(t *testing.T) {
	checkpointtest.Run(t, checkpointtest.Harness{
		Open: func(t *testing.T) thread.Store { return open(t, filepath.Join(t.TempDir(), "state", "state.db")) },
		Reopen: func(t *testing.T, s thread.Store) thread.Store {
			old, ok := s.(*sqlite.Store)
			if !ok {
				t.Fatalf("%T", s)
			}
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, old.Path())
		},
		Spoil: func(t *testing.T, s thread.Store, id thread.CheckpointID) {
			old, ok := s.(*sqlite.Store)
			if !ok {
				t.Fatalf("%T", s)
			}
			spoil(t, old.Path(), id)
		},
	})
}

// spoil flips one bit in the middle of what is stored of a checkpoint.
func spoil(t testing.TB, path string, id thread.CheckpointID) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=5000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var data []byte
	if err := db.QueryRow("SELECT data FROM checkpoint WHERE id = ?", string(id)).Scan(&data); err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if _, err := db.Exec("UPDATE checkpoint SET data = ? WHERE id = ?", data, string(id)); err != nil {
		t.Fatal(err)
	}
}
