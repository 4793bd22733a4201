package sqlite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"orchestrator/thread"
)

// TestFirstReading reads the threads once at a start that checks all of them: whoever asks first gets what the check of the records read, in
// the order in which they were made, and a write in between is seen.
func TestFirstReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	write := func(s *Store, name string) {
		t.Helper()
		if err := s.CreateThread(t.Context(), thread.Thread{ID: thread.ID(name), Name: name, Agent: "claude"}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(s *Store) (got []string) {
		t.Helper()
		list, err := s.Threads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, th := range list {
			got = append(got, th.Name)
		}
		return got
	}
	var want []string
	for _, add := range [][]string{{"c", "a", "b"}, nil, {"0"}} {
		if err := os.RemoveAll(path + cleanEnd); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if first := s.first.Load(); first == nil || len(*first) != len(want) {
			t.Errorf("the start handed on %v, of %q", first, want)
		}
		for _, name := range add {
			write(s, name)
			want = append(want, name)
		}
		for range 2 {
			if got := read(s); !slices.Equal(got, want) {
				t.Errorf("read %q, want %q", got, want)
			}
			if s.first.Load() != nil {
				t.Error("what was read at the start is kept")
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
