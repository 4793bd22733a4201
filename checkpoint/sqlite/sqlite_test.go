package sqlite_test

import (
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
	})
}
